"""A real SLURM on this machine: slurmctld and two slurmd that each take themselves for a node, n1 and n2, with one
core. They trust each other by a munged with a key of its own, and know no cgroups, so that any user can start them."""

import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile

from daemons import FOLDER, Daemon, environment, free_ports, program
from live_runs import await_true

# A requeued job may start again once the credential of its former steps is worth nothing: cred_expire. The scheduler
# looks each second instead of each minute.
CONFIGURATION = """
ClusterName=clade
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
{plugins}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1
KillWait=10
ReturnToService=2
MailProg=/bin/true
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname={host} Port={ports[1]} CPUs=1
NodeName=n2 NodeAddr=127.0.0.1 NodeHostname={host} Port={ports[2]} CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


class SlurmCluster:
    def __init__(self):
        """Skips the test where there is no SLURM."""
        munged, controller = program("munged"), program("slurmctld", "slurmctld-wlm")
        node, stepper = program("slurmd", "slurmd-wlm"), program("slurmstepd", "slurmstepd-wlm")
        program("sbatch")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clade-slurm-"))
        self.environment = {**environment(), "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.daemons = []
        try:
            self.configure()
            self.start_munge(munged)
            self.start("slurmctld", controller, "-D", "-f", self.folder / "slurm.conf")
            for name in ("n1", "n2"):
                self.start(name, node, "-D", "-N", name, "-d", stepper, "-f", self.folder / "slurm.conf")
            await_true(lambda: self.all_alive() and len(self.ask("sinfo", "-hN", "-t", "idle").splitlines()) == 2,
                       "the nodes of SLURM do not come up")
        except BaseException:
            self.stop()
            raise

    def configure(self):
        plugins = [folder for folder in FOLDER.glob("usr/lib/*-linux-gnu/slurm-wlm") if folder.is_dir()]
        (self.folder / "state").mkdir()
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, host=socket.gethostname().split(".")[0], user=pwd.getpwuid(os.getuid()).pw_name,
            ports=free_ports(3), plugins=f"PluginDir={plugins[0]}" if plugins else ""))

    def start(self, name, *words):
        self.daemons.append(Daemon(words, self.folder / f"{name}.out", **self.environment))

    def start_munge(self, munged):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.start("munged", munged, "-F", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={key}",
                   f"--pid-file={self.folder}/munge.pid", f"--seed-file={self.folder}/munge.seed",
                   f"--log-file={self.folder}/munge.log")
        await_true(lambda: self.all_alive() and (self.folder / "munge.socket").exists(), "munged does not come up")

    def all_alive(self):
        for daemon in self.daemons:
            daemon.check()
        return True

    def ask(self, *words):
        """Returns the output of a command of SLURM; empty if it fails."""
        done = subprocess.run([program(words[0]), *map(str, words[1:])], env={**os.environ, **self.environment},
                              capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    def order(self, *words):
        """Runs a command of SLURM that must succeed; returns what it prints."""
        return subprocess.run([program(words[0]), *map(str, words[1:])], env={**os.environ, **self.environment},
                              stdout=subprocess.PIPE, text=True, check=True).stdout

    def state(self, job):
        """PENDING, RUNNING, COMPLETED, CANCELLED ..."""
        words = self.order("scontrol", "show", "job", job).split()
        return next(word for word in words if word.startswith("JobState=")).partition("=")[2]

    def await_state(self, job, *states):
        await_true(lambda: self.all_alive() and self.state(job) in states, f"job {job} never became {states}")

    def await_quiet(self):
        """Until no job is left and the nodes are free again."""
        await_true(lambda: self.ask("squeue", "-h") == "" and self.ask("sinfo", "-h", "-t", "idle", "-o", "%D") == "2\n",
                   "a job does not end")

    def stop(self):
        try:
            if len(self.daemons) > 1 and self.daemons[1].process.poll() is None:
                self.order("scancel", "-u", pwd.getpwuid(os.getuid()).pw_name)
                self.await_quiet()
        finally:
            for daemon in reversed(self.daemons):
                daemon.end()
            shutil.rmtree(self.folder)
