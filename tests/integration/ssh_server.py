"""A real ssh server on loopback, of this user, who has another home there: nss_wrapper tells it who there is."""

import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
import unittest

from daemons import Daemon, environment, free_ports, program
from live_runs import await_true

SERVER = """
HostKey {folder}/host
ListenAddress 127.0.0.1
Port {port}
PidFile none
AuthorizedKeysFile {folder}/user.pub
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
"""

CLIENT = """
Port {port}
IdentityFile {folder}/user
IdentitiesOnly yes
UserKnownHostsFile {folder}/known
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking accept-new
"""

# The folder in which sshd, started by root, shuts in those who have not logged in yet; Debian's service makes it. It
# stays, empty: another test's server may look for it at any connection.
SEPARATION = pathlib.Path("/run/sshd")


class SshServer:
    def __init__(self):
        """Skips the test where there is none, or nothing to tell it who there is."""
        server, wrapper = program("sshd"), "libnss_wrapper.so"
        if not list(pathlib.Path("/usr/lib").glob(f"*/{wrapper}")):
            raise unittest.SkipTest(f"no {wrapper} on this machine: Debian has it in libnss-wrapper")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clade-ssh-"))
        self.home = self.folder / "home"
        self.home.mkdir()
        if os.getuid() == 0:
            SEPARATION.mkdir(mode=0o755, exist_ok=True)
        self.configure(*free_ports(1))
        self.options = ["--ssh=-F", f"--ssh={self.folder}/client"]
        self.daemon = Daemon([server, "-D", "-e", "-f", self.folder / "server"], self.folder / "log", **{
            **environment(), "LD_PRELOAD": wrapper, "NSS_WRAPPER_PASSWD": str(self.folder / "passwd"),
            "NSS_WRAPPER_GROUP": str(self.folder / "group")})
        await_true(lambda: self.daemon.check() or "Server listening" in self.daemon.log.read_text(), "sshd does not come up")

    def configure(self, port):
        for name in ("host", "user"):
            subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        for name, text in (("server", SERVER), ("client", CLIENT)):
            (self.folder / name).write_text(text.format(folder=self.folder, port=port))
        me = pwd.getpwuid(os.getuid())
        (self.folder / "passwd").write_text(
            f"{me.pw_name}:x:{me.pw_uid}:{me.pw_gid}::{self.home}:/bin/sh\n"
            f"sshd:x:65533:65534::{SEPARATION}:/usr/sbin/nologin\n")
        (self.folder / "group").write_text(f"mine:x:{me.pw_gid}:\nnogroup:x:65534:\n")

    def stop(self):
        self.daemon.end()
        shutil.rmtree(self.folder)
