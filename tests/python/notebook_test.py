"""The package in a real Jupyter kernel: what a cell shows, the stop button, a kernel that is killed or started again."""

import os
import pathlib
import select
import tempfile
import textwrap
import unittest

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

import clade

ROOT = pathlib.Path(__file__).resolve().parents[2]
IRIS = ROOT / "experiments" / "data" / "iris.csv"
SHORT = "{'evolution.population': 4, 'evolution.generations': 2, 'training.epochs': 3}"
LONG = "{'evolution.population': 50, 'evolution.generations': 200, 'training.epochs': 20}"
PATIENCE_S = 120
SOCKETS = ("shell", "iopub", "stdin", "hb", "control")


class Notebook(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="clade-notebook-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.book = nbformat.v4.new_notebook()
        # Ports that are found free may be another process's by the time that the kernel binds them; the system gives
        # nobody those below its own range.
        first = 20_000 + 5 * (os.getpid() % 2_000)
        sockets = Config({"KernelManager": {f"{name}_port": first + i for i, name in enumerate(SOCKETS)}})
        self.client = NotebookClient(self.book, timeout=PATIENCE_S, kernel_name="python3",
                                     kernel_manager_class="jupyter_client.manager.KernelManager",
                                     config=sockets, resources={"metadata": {"path": str(self.folder)}})
        self.kernel = self.client.setup_kernel()
        self.kernel.__enter__()
        self.addCleanup(self.kernel.__exit__, None, None, None)

    def run_cell(self, text):
        """Executes one more cell and returns it."""
        self.book.cells.append(nbformat.v4.new_code_cell(textwrap.dedent(text)))
        return self.client.execute_cell(self.book.cells[-1], len(self.book.cells) - 1)

    def printed(self, cell):
        """Returns what a cell wrote to standard output; the other one may come before or after it."""
        return "".join(o["text"] for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")

    def start_long(self):
        """Leaves a search going on in the kernel, and returns the number of its process."""
        cell = self.run_cell(f"""
            import clade
            run = clade.search({str(IRIS)!r}, "last", slots=2, settings={LONG}, wait=False)
            print(run._session.pid)""")
        return int(self.printed(cell))

    def watch(self, pid):
        """Returns what waits for the end of a process that runs now."""
        descriptor = os.pidfd_open(pid)
        self.addCleanup(os.close, descriptor)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return lambda: self.assertTrue(poll.poll(PATIENCE_S * 1000), "the run did not end")

    def assert_stopped(self):
        (folder,) = self.folder.glob("runs/*-*-*")
        run = clade.open(folder)
        self.assertEqual((run.state, run.reason), ("stopped", "interrupted"))

    def test_a_run_shows_its_curve_and_its_progress(self):
        cell = self.run_cell(f"""
            import clade
            run = clade.search({str(IRIS)!r}, "last", slots=2, settings={SHORT})
            run""")
        shown = next(o for o in cell.outputs if o.output_type == "execute_result")["data"]
        self.assertIn("<svg", shown["text/html"])
        self.assertIn("finished, 23 networks evaluated", shown["text/plain"])
        bar = "".join(o.get("text", "") for o in cell.outputs if o.output_type == "stream")
        self.assertIn("8/8 [", bar)

    def test_the_stop_button_ends_the_search_and_leaves_the_kernel(self):
        self.start_long()
        waiting = self.client.kc.execute("import time; print('waits'); run.wait(progress=False)")
        self.await_message(waiting, "stream")
        self.client.km.interrupt_kernel()
        self.await_message(waiting, "execute_result", "execute_reply")
        self.assertEqual(self.printed(self.run_cell("print(run.state)")), "stopped\n")
        self.assert_stopped()

    def await_message(self, request, *kinds):
        while True:
            message = self.client.kc.get_iopub_msg(timeout=PATIENCE_S)
            if message["parent_header"].get("msg_id") == request and (
                    message["msg_type"] in kinds or message["content"].get("execution_state") == "idle"):
                return message

    def test_a_kernel_that_is_killed_leaves_a_run_that_drains(self):
        await_end = self.watch(self.start_long())
        self.client.km.signal_kernel(9)
        await_end()
        self.assert_stopped()

    def test_a_kernel_that_is_started_again_leaves_a_run_that_drains(self):
        await_end = self.watch(self.start_long())
        self.client.km.restart_kernel()
        await_end()
        self.assert_stopped()


if __name__ == "__main__":
    unittest.main()
