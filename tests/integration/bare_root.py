"""A bare Debian 12 as a new user's machine is: its base, certificates, and Python 3.11 with pip.

It is made once by debootstrap, below build/, and each use works on a layer of its own above it, in a mount namespace and
a process namespace of its own: what is installed there is gone afterwards, and so is every process.
"""

import os
import pathlib
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = ROOT / "build" / "bare_root"
PACKAGES = ("ca-certificates", "python3", "python3-venv")
MIRROR = "http://deb.debian.org/debian"
# The files that say where this machine takes packages from, and the certificates that it trusts.
CONFIGURATION = ("etc/apt/sources.list", "etc/apt/sources.list.d", "etc/apt/apt.conf.d", "etc/apt/trusted.gpg.d",
                 "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt")
PASSED = ("PIP_", "SSL_", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
INDEXES = ("/opt/wheels", "/opt/pypi", "/opt/pypi-more")  # of packages, where this machine has them as files

LAYER = """
set -e
mount -t overlay overlay -o lowerdir={base},upperdir={layer}/upper,workdir={layer}/work {layer}/root
mount -t proc proc {layer}/root/proc
mount --rbind /dev {layer}/root/dev
{binds}
exec chroot {layer}/root env -i {variables} bash -c {command}
"""


def missing():
    """Returns what this machine lacks for a bare root, in words; empty if nothing is."""
    if os.geteuid() != 0:
        return "a bare root takes root"
    if shutil.which("debootstrap") is None:
        return "no debootstrap"
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode != 0:
        return "no namespaces"
    return ""


def make_base():
    """Makes the bare root that all uses share, if it is not there."""
    if BASE.is_dir():
        return
    made = BASE.with_suffix(".new")
    shutil.rmtree(made, ignore_errors=True)
    done = subprocess.run(["debootstrap", "--variant=minbase", "--include=" + ",".join(PACKAGES), "bookworm", made, MIRROR],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stdout[-2000:])
    shutil.rmtree(made / "etc/apt/sources.list.d", ignore_errors=True)
    (made / "etc/apt/sources.list").unlink(missing_ok=True)
    for name in CONFIGURATION:
        source = pathlib.Path("/", name)
        if source.is_dir():
            shutil.copytree(source, made / name, dirs_exist_ok=True)
        elif source.exists():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, made / name)
    made.rename(BASE)


class BareRoot:
    """One layer above the base; `path` is where its own files are, before and after a command."""

    def __init__(self, layer):
        make_base()
        self.layer = pathlib.Path(layer)
        for name in ("upper", "work", "root"):
            (self.layer / name).mkdir()
        self.path = self.layer / "upper"
        for name in ("resolv.conf", "hosts"):
            (self.path / "etc").mkdir(exist_ok=True)
            shutil.copy(f"/etc/{name}", self.path / "etc" / name)

    def run(self, command, binds=(), path=""):
        """Runs a command of bash as root; `binds` are pairs of a folder here and its place there."""
        lines = []
        for here, there in [*((i, i) for i in INDEXES if os.path.isdir(i)), *binds]:
            there = f"{self.layer}/root{there}"
            lines.append(f"mkdir -p {there}; mount --bind {shlex.quote(str(here))} {there}")
        variables = {"PATH": f"{path}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                     "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
                     **{k: v for k, v in os.environ.items() if k.startswith(PASSED)}}
        script = LAYER.format(base=BASE, layer=self.layer, binds="\n".join(lines), command=shlex.quote(command),
                              variables=" ".join(shlex.quote(f"{k}={v}") for k, v in variables.items()))
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", script],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
