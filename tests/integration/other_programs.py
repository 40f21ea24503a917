"""The results of other programs with Clade's exports; run by an interpreter that has PyTorch, or onnxruntime.

usage: other_programs.py samples KIND FOLDER        compares every network of `export_samples FOLDER`, or of `export_samples
                                                    FOLDER 200`, so many of each ready space; exit status 1 if one differs
       other_programs.py predict KIND MODEL ROWS    rows (JSON; Python takes a data file too) to predictions (JSON):
                                                    probabilities, or values (of several targets a list)
       other_programs.py study FILE                 a study of Optuna's as JSON
       other_programs.py dashboard FILE             what Optuna's dashboard sends a browser of it
       other_programs.py tensors FILE               shapes by name, as the package safetensors reads them

KIND: python, torchscript, onnx
"""

import array
import importlib.util
import json
import pathlib
import sys

TOLERANCE = 1e-5


def load_python(folder):
    spec = importlib.util.spec_from_file_location("model", pathlib.Path(folder) / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_python(model, rows, shape):
    """`rows`: examples, or the name of a data file."""
    module = load_python(model)
    found = module.predict(module.read_rows(rows) if isinstance(rows, str) else rows)
    found = [p[1] if isinstance(p, tuple) else p for p in found]
    return [list(p.values()) if isinstance(p, dict) else p for p in found]


def as_numbers(rows):
    return [[float("nan") if v is None else v for v in row] for row in rows]


def by_torchscript(model, rows, shape):
    import torch
    module = torch.jit.load(model)
    if "str" in str(module.forward.schema.arguments[1].type):
        return module([["" if v is None else str(v) for v in row] for row in rows]).tolist()
    return module(torch.tensor(as_numbers(rows), dtype=torch.float64)).tolist()


def days(text):
    """The value that an ONNX model takes for a date; the test's dates are ISO 8601."""
    import datetime
    if not text:
        return float("nan")
    return (datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)


def onnx_inputs(session, rows, shape):
    """Returns the inputs that the model's metadata names, of rows in the order of its columns; texts have no spaces
    around."""
    import numpy
    about = session.get_modelmeta().custom_metadata_map
    inputs = json.loads(about["inputs"])
    if inputs[0]["kind"] == "numbers":
        declared = session.get_inputs()[0]
        kind = numpy.float64 if declared.type == "tensor(double)" else numpy.float32
        return {"input": numpy.array(as_numbers(rows), dtype=kind).reshape(-1, *declared.shape[1:])}
    convert = {"number": (lambda v: float("nan") if v is None else float(str(v).replace(",", ".")), numpy.float64),
               "date": (days, numpy.float64), "text": (lambda v: v, numpy.float64)}
    given = {}
    for one in inputs:
        as_given, kind = convert.get(one["kind"], (lambda v: "" if v is None else str(v).strip(), object))
        given[one["name"]] = numpy.array([as_given(row[one["column"]]) for row in rows], dtype=kind)
    return given


def by_onnx(model, rows, shape):
    import onnxruntime
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    outputs = dict(zip((o.name for o in session.get_outputs()), session.run(None, onnx_inputs(session, rows, shape))))
    return next(outputs[name] for name in ("value", "values", "probabilities") if name in outputs).tolist()


KINDS = {"python": (by_python, ""), "torchscript": (by_torchscript, "model.pt"), "onnx": (by_onnx, "model.onnx")}


def floats(file):
    values = array.array("f")
    values.frombytes(file.read_bytes())
    return values.tolist()


def rows_of(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)]


def softmax(logits):
    import math
    powers = [math.exp(v - max(logits)) for v in logits]
    return [p / sum(powers) for p in powers]


def difference(kind, folder):
    """The greatest between Clade's outputs and another program's, relative to values above 1."""
    shape = json.loads((folder / "shape.txt").read_text())
    size = 1
    for s in shape:
        size *= s
    rows = rows_of(floats(folder / "inputs"), size)
    outputs = rows_of(floats(folder / "outputs"), len(floats(folder / "outputs")) // len(rows))
    # export_samples scales values of one output as a_preprocessing says.
    wanted = [softmax(o) if len(o) > 1 else [10 + 2.5 * o[0]] for o in outputs]
    predict, name = KINDS[kind]
    found = [p if isinstance(p, list) else [p] for p in predict(str(folder / name), rows, shape)]
    if [len(f) for f in found] != [len(w) for w in wanted]:
        return float("inf")
    return max(abs(a - b) / max(1, abs(b)) for f, w in zip(found, wanted) for a, b in zip(f, w))


def compare_samples(kind, folder):
    compared = 0
    for sample in sorted(pathlib.Path(folder).iterdir(), key=lambda f: int(f.name)):
        apart = difference(kind, sample)
        if not apart <= TOLERANCE:
            print(f"{kind}: {sample.name} differs by {apart}\n{(sample / 'network.txt').read_text()}")
            return 1
        compared += 1
    print(json.dumps(compared))
    return 0


def study(file):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    loaded = optuna.load_study(study_name=None, storage=f"sqlite:///{file}")
    return {
        "name": loaded.study_name,
        "direction": loaded.direction.name,
        "best": loaded.best_trial.number + 1,
        "value": loaded.best_value,
        "trials": [{
            "number": t.number, "state": t.state.name, "value": t.value, "params": t.params,
            "steps": {str(k): v for k, v in t.intermediate_values.items()}, "attributes": t.user_attrs,
            "contained": all(t.distributions[n]._contains(t.distributions[n].to_internal_repr(v))
                             for n, v in t.params.items()),
        } for t in loaded.trials],
    }


def dashboard(file):
    import wsgiref.util
    import optuna
    import optuna_dashboard
    application = optuna_dashboard.wsgi(optuna.storages.RDBStorage(f"sqlite:///{file}"))
    request = {"PATH_INFO": "/api/studies/1"}
    wsgiref.util.setup_testing_defaults(request)
    statuses = []
    body = b"".join(application(request, lambda status, headers, failure=None: statuses.append(status)))
    return {"status": statuses[0], **json.loads(body)}


def tensors(file):
    from safetensors.numpy import load_file
    return {name: list(t.shape) for name, t in load_file(file).items()}


def main(words):
    if words[0] == "samples":
        return compare_samples(*words[1:])
    if words[0] == "predict":
        kind, model, rows = words[1:]
        given = json.loads(pathlib.Path(rows).read_text())
        result = KINDS[kind][0](model, given["rows"], given["shape"])
    else:
        result = {"study": study, "dashboard": dashboard, "tensors": tensors}[words[0]](words[1])
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
