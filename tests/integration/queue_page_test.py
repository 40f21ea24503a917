"""The page of a queue (clade serve) in Debian's Chromium. Without what tools/setup builds it with, and without the browser,
the tests are skipped and say what they miss."""

import re
import statistics
import unittest

from dashboard_test import Browser, check_page
from live_runs import await_true
from queue_test import QueueTest


class Page(QueueTest):
    maxDiff = None

    def setUp(self):
        check_page(self)
        super().setUp()
        self.serve("--quota", "bob=1")
        self.assertRegex(self.server.out, r"\nits page: http://127\.0\.0\.1:\d+/ \(clade top --web adds the token\)\n")

    def address(self, user=None):
        """The page's, with the token."""
        queue = self.queue / "users" / user if user else self.queue
        found = self.ask("top", "--web", queue=queue).out.strip()
        self.assertEqual(found, (self.queue / "address").read_text().strip() + "/#token=" + self.token(user))
        return found

    def browser(self, scenario, address=None):
        return Browser(self, address or self.address(), scenario, "queue_page.mjs")

    def only(self, scenario, address=None):
        """The one answer of a scenario."""
        browser = self.browser(scenario, address)
        answer = browser.answer()
        browser.end()
        return answer

    def submit_of(self, user, *words):
        return int(self.ask("submit", *words, queue=self.queue / "users" / user).out)

    def test_entries_and_machine_are_shown_and_found(self):
        for user in ("ann", "bob"):
            self.add_user(user, "user")
        first = self.submit_of("ann", "--slots", "2", "--priority", "3", "--", "sleep", "1000")
        self.await_state(first, "running")
        bobs = self.submit_of("bob", "--name", "<b>html</b>", "--", "true")
        held_back = self.submit("--after", bobs, "--", "true")
        seen = self.only("look")
        self.assertEqual(seen["place"], (self.queue / "address").read_text().strip() + "/", "the token is seen no more")
        rows = {row["id"]: row for row in seen["rows"]}
        self.assertEqual(list(rows), [f"#{held_back}", f"#{bobs}", f"#{first}"])
        row = rows[f"#{first}"]
        self.assertEqual([row[c] for c in ("state", "user", "name", "kind", "priority", "slots")],
                         ["running", "ann", "sleep 1000", "command", "3", "2"])
        self.assertEqual((rows[f"#{bobs}"]["reason"], rows[f"#{held_back}"]["reason"]),
                         ("waits for 1 slot", self.describe(held_back)["reason"]))
        self.assertRegex(seen["figures"], r"^running1waiting2slots in use2 of 2you are\S+ admin$")
        self.assertEqual([(row["name"], row["id"]) for row in seen["found"]], [("<b>html</b>", f"#{bobs}")])
        self.assertEqual(seen["elements"], 0)
        self.assertEqual([row["id"] for row in seen["bobs"]], [f"#{bobs}"])
        for running in (seen["running"], seen["after_reload"]):
            self.assertEqual([row["id"] for row in running], [f"#{first}"])
        self.assertEqual(seen["slots"], [["cpu:0", "cpu", f"#{first}", "ann"], ["cpu:1", "cpu", f"#{first}", "ann"]])
        users = {user[0]: user[1:5] for user in seen["users"]}
        self.assertEqual((users["ann"], users["bob"]), (["2", "–", "1", "0"], ["0", "1", "0", "1"]))

    def test_machines_that_have_joined_are_shown(self):
        self.add_user("lab", "worker")
        nodes = [self.start("worker", "--queue", self.queue / "users" / "lab", "--name", name, "--slots", "1") for name in ("rome", "bonn")]
        try:
            browser = self.browser("machines")
            browser.say("2")
            seen = browser.answer()
            browser.end()
        finally:
            for node in nodes:
                node.kill()
        self.assertEqual([m[:3] for m in sorted(seen["machines"])], [["bonn", "there", "1"], ["rome", "there", "1"]])
        for machine in seen["machines"]:
            self.assertRegex(machine[3], r"^\d+\.\d+\.\d+$")
            self.assertRegex(machine[4], r"^\S+ \S+ ago$")
        self.assertEqual([slot[0] for slot in seen["slots"]], ["cpu:0", "cpu:1", "cpu:0@bonn", "cpu:0@rome"])
        self.assertEqual(seen["against"], [])

    def test_a_log_is_followed_and_an_entry_cancelled(self):
        go = self.folder / "go"
        entry = self.submit("--name", "counts", "--", "sh", "-c",
                            rf"printf 'one <i>\033[31mred\033[0m\n10 %%\r20 %%\n'; until [ -e {go} ]; do sleep 0.05; done;"
                            " echo two; sleep 1000")
        self.await_state(entry, "running")
        browser = self.browser("follow")
        browser.say("20 %")
        seen = browser.answer()
        self.assertEqual((seen["title"], seen["log"]), (f"#{entry} counts", "one <i>red\n20 %\n"))
        self.assertRegex(seen["facts"], rf"^staterunning.*directory{self.folder}")
        go.touch()
        browser.say("two")
        self.assertEqual(browser.answer()["log"], "one <i>red\n20 %\ntwo\n")
        browser.say("cancel")
        seen = browser.answer()
        browser.end()
        self.assertEqual(seen["buttons"], 0)
        self.assertEqual(self.describe(entry)["state"], "cancelled")
        script, sleeper = seen["processes"][-2:]
        self.assertEqual((script[0], sleeper[4]), (sleeper[1], "sleep 1000"), "the script has started it")
        self.assertRegex(sleeper[3], r"^\d+ MB$")

    def test_what_is_anothers_is_neither_read_nor_cancelled(self):
        for name, role in (("ann", "user"), ("eve", "viewer")):
            self.add_user(name, role)
        entry = self.submit("--", "sh", "-c", "echo secret; sleep 1000")
        self.await_state(entry, "running")
        for name in ("ann", "eve"):
            seen = self.only("other", self.address(name))
            self.assertEqual(seen["buttons"], 0)
            self.assertNotIn("secret", seen["facts"] + seen["log"])
            self.assertRegex(seen["log"], r"It is read by \S+ and by admins")

    def test_the_token_is_asked_for_once(self):
        self.submit("--slots", "2", "--", "sleep", "1000")
        browser = self.browser("token", (self.queue / "address").read_text().strip() + "/")
        browser.say(self.token())
        seen = browser.answer()
        self.assertEqual((seen["asks"], seen["kept_for_later"]), ("password", 0))
        self.assertEqual(seen["rows"], seen["again"])
        self.assertRegex(seen["refusal"], r"token")
        browser.process.stdin.close()
        complaints = browser.answer()["complaints"]
        self.assertEqual([c for c in complaints if "status of 401" not in c], [])
        self.assertEqual(len(complaints), 1)

    def test_it_is_for_everybody(self):
        entry = self.submit("--", "sh", "-c", "echo something; sleep 1000")
        await_true(lambda: self.ask("logs", entry).out, "it writes nothing")
        seen = self.only("accessible")
        self.assertEqual({view: found for view, found in seen["against"].items() if found}, {})
        self.assertEqual({view: width for view, width in seen["widths"].items() if width > 380}, {})
        for view, stops in seen["stops"].items():
            self.assertEqual(stops[0]["name"], "Skip to the content", view)
            self.assertGreaterEqual(len(stops), 4, view)
            self.assertEqual([s for s in stops if not s["visible"] or not s["name"]], [], view)

    def test_10_000_entries_scroll_and_filter(self):
        self.submit("--slots", "2", "--priority", "1000", "--", "sleep", "1000")
        entries = [{"command": ["true"], "directory": "/", "slots": 2, "priority": i % 7, "name": f"job {i}"} for i in range(9_999)]
        self.assertEqual(self.rest("POST", "/v1/entries", self.token(), {"entries": entries})[0], 200)
        browser = self.browser("many")
        browser.say("10,000")
        seen = browser.answer()
        browser.end()
        # To be read, not held to: other tests may have the machine meanwhile.
        print("milliseconds among 10,000 entries:",
              ", ".join(f"{what} {statistics.median(took):.0f} (most {max(took)})" for what, took in seen["took"].items()))
        self.assertEqual({what: len(took) for what, took in seen["took"].items()}, {"scroll": 10, "filter": 6, "sort": 3})
        self.assertLess(seen["most_rows"], 60)


if __name__ == "__main__":
    unittest.main()
