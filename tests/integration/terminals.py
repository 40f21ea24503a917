"""A real terminal for tests: tmux, whose one pane runs a shell."""

import os
import shlex
import signal
import subprocess

from live_runs import CLADE, LIBC, PR_SET_PDEATHSIG, await_true, environment_of_commands

PROMPT = "ready> "


class Terminal:
    """A pane of tmux with bash in it, and a server of its own that dies with the test."""

    def __init__(self, test, columns=80, rows=24, **environment):
        self.test = test
        self.socket = test.folder / f"tmux-{len(test.terminals)}"
        configuration = test.folder / "tmux.conf"
        configuration.write_text("set -g exit-empty off\nset -g status off\n"
                                 "set -g default-terminal screen-256color\n")
        parent = os.getpid()

        def prepare():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

        self.server = subprocess.Popen(
            ["tmux", "-D", "-u", "-S", self.socket, "-f", configuration], stdin=subprocess.DEVNULL, cwd=test.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=prepare, start_new_session=True,
            env={**environment_of_commands(), "LC_ALL": "C.UTF-8", "CLADE_RUNS": str(test.runs), "TZ": "UTC"})
        test.terminals.append(self)
        await_true(lambda: subprocess.run(["tmux", "-S", self.socket, "show-options", "-g", "exit-empty"],
                                          capture_output=True, check=False).returncode == 0, "tmux does not answer")
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        self.tmux("new-session", "-d", "-s", "test", "-x", str(columns), "-y", str(rows),
                  f"env {variables} PS1={shlex.quote(PROMPT)} bash --norc --noprofile")
        self.await_line(PROMPT.strip())

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True, capture_output=True, text=True).stdout

    def press(self, *keys):
        """Keys by their names in tmux, or text."""
        self.tmux("send-keys", "-t", "test", *keys)

    def type(self, line):
        self.tmux("send-keys", "-t", "test", "-l", line)
        self.press("Enter")

    def attach(self, *words):
        self.type(f"{shlex.quote(CLADE)} attach {' '.join(shlex.quote(str(w)) for w in words)}; echo status $?")

    def lines(self):
        return self.tmux("capture-pane", "-p", "-t", "test").rstrip("\n").split("\n")

    def screen(self):
        return "\n".join(self.lines())

    def await_screen(self, *texts):
        """Until all of these are to be seen; returns the screen."""
        seen = ""

        def there():
            nonlocal seen
            seen = self.screen()
            return all(text in seen for text in texts)
        try:
            await_true(there, f"{texts} on the screen")
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows:\n{seen}") from None
        return seen

    def await_line(self, line):
        """Until this is the last line."""
        try:
            await_true(lambda: self.lines()[-1].strip() == line, f"the line {line!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen shows:\n{self.screen()}") from None

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", "test", "-x", str(columns), "-y", str(rows))

    def shell(self):
        return int(self.tmux("display-message", "-p", "-t", "test", "#{pane_pid}"))

    def viewer(self):
        """The process that the shell runs."""
        def child():
            with open(f"/proc/{self.shell()}/task/{self.shell()}/children", encoding="ascii") as children:
                return children.read().split()
        return int(await_true(child, "the shell started nothing")[0])

    def modes(self):
        """All that a program could have left behind: the screen that is shown, the cursor, the keypad, and what the
        kernel does with keys."""
        flags = self.tmux("display-message", "-p", "-t", "test",
                          "#{alternate_on} #{cursor_flag} #{keypad_flag} #{keypad_cursor_flag} #{wrap_flag}")
        tty = self.tmux("display-message", "-p", "-t", "test", "#{pane_tty}").strip()
        return flags, subprocess.run(["stty", "-a", "-F", tty], check=True, capture_output=True, text=True).stdout

    def close(self):
        self.server.kill()
        self.server.wait()
