#include "tools/launch/launch_ssh.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

ssh_worker a_worker() {
  return {.run = "digits-20260101-120000",
          .keys = {.authority = "AUTHORITY\n",
                   .certificate = "CERTIFICATE\n",
                   .key = "KEY\n"},
          .program = "/opt/clade",
          .connect = "login1:7411",
          .slots = "auto",
          .name = "gpu1"};
}

} // namespace

TEST_CASE("launch ssh: hosts are read with users and slots") {
  CHECK(*parse_ssh_hosts("gpu1") == std::vector<ssh_host>{{"gpu1", "auto"}});
  CHECK(*parse_ssh_hosts("gpu1,anna@gpu2.example.org:cuda:0+cuda:1,10.0.0.3:4")
        == std::vector<ssh_host>{{"gpu1", "auto"},
                                 {"anna@gpu2.example.org", "cuda:0,cuda:1"},
                                 {"10.0.0.3", "4"}});
  CHECK(*parse_ssh_hosts("[fe80::1%eth0],anna@[::1]:cpu:4")
        == std::vector<ssh_host>{{"fe80::1%eth0", "auto"}, {"anna@::1", "cpu:4"}});
}

TEST_CASE("launch ssh: what is no host is refused") {
  for (const char* wrong :
       {"", "gpu1,", ",gpu1", "-oProxyCommand=reboot", "a@-oX", "-a@gpu1", "gpu 1",
        "@gpu1", "gpu1:", "gpu1:a b", "gpu1:$(x)", "[::1", "[::1]x", "[]", "a@b@c",
        "gpu1;reboot", "gpu1:-x", "gpu1\n"})
    CHECK_FALSE(parse_ssh_hosts(wrong));
  CHECK(parse_ssh_hosts("gpu1,-x").error().message
        == "\"-x\" is no host; write HOST, USER@HOST or HOST:SLOTS, such as "
           "gpu1,anna@gpu2:cuda:0+cuda:1");
  CHECK(parse_ssh_hosts("gpu1,gpu1:4").error().message
        == "gpu1 is named twice; one worker offers all its slots");
}

TEST_CASE("launch ssh: the command asks nobody and takes the user's options first") {
  CHECK(ssh_command({"anna@gpu1"}, {"-p2222"})
        == std::vector<std::string>{"ssh", "-p2222", "-T", "-o", "BatchMode=yes", "-o",
                                    "ConnectTimeout=15", "--", "anna@gpu1", "sh -s"});
}

TEST_CASE("launch ssh: the script brings the keys and starts one worker") {
  CHECK(ssh_script(a_worker()) == R"sh(set -eu
umask 077
run=digits-20260101-120000
program=/opt/clade
connect=login1:7411
slots=auto
name=gpu1
if ! command -v "$program" >/dev/null; then exit 76; fi
folder=$HOME/.clade/keys/$run
mkdir -p "$folder"
chmod 700 "$HOME/.clade" "$HOME/.clade/keys" "$folder"
cat >"$folder/.ca.pem" <<'END OF KEYS'
AUTHORITY
END OF KEYS
mv -f "$folder/.ca.pem" "$folder/ca.pem"
cat >"$folder/.cert.pem" <<'END OF KEYS'
CERTIFICATE
END OF KEYS
mv -f "$folder/.cert.pem" "$folder/cert.pem"
cat >"$folder/.key.pem" <<'END OF KEYS'
KEY
END OF KEYS
mv -f "$folder/.key.pem" "$folder/key.pem"
setsid flock --no-fork --nonblock --conflict-exit-code 75 "$folder/lock" \
  "$program" worker --connect "$connect" --keys "$folder" --slots "$slots" --name "$name" \
  </dev/null >>"$folder/worker.log" 2>&1 &
process=$!
tries=20
while [ $tries -gt 0 ] && kill -0 $process 2>/dev/null; do
  sleep 0.1
  tries=$((tries - 1))
done
if kill -0 $process 2>/dev/null; then
  echo $process
  exit 0
fi
status=0
wait $process || status=$?
if [ $status -eq 75 ]; then exit 75; fi
if [ $status -eq 0 ]; then exit 78; fi
echo "with status $status: $(tail -n 1 "$folder/worker.log")"
exit 77
)sh");
}

TEST_CASE("launch ssh: values stay one word for the shell there") {
  auto worker = a_worker();
  worker.run = "it's; reboot";
  worker.program = "/opt/my clade $(reboot)";
  const auto script = ssh_script(worker);
  CHECK(script.find("\nrun='it'\\''s; reboot'\n") != std::string::npos);
  CHECK(script.find("\nprogram='/opt/my clade $(reboot)'\n") != std::string::npos);
}

TEST_CASE("launch ssh: each host's outcome is one line") {
  const auto outcome = [](int status, const char* said) {
    const auto o = read_ssh_outcome({"anna@gpu1"}, "digits", status, said);
    return (o.works ? "+ " : "- ") + o.line;
  };
  CHECK(outcome(0, "a banner\n4711\n")
        == "+ anna@gpu1: worker started, process 4711; its log: "
           "~/.clade/keys/digits/worker.log");
  CHECK(outcome(75, "")
        == "+ anna@gpu1: a worker of this run is there already; its log: "
           "~/.clade/keys/digits/worker.log");
  CHECK(outcome(78, "")
        == "+ anna@gpu1: the worker has already left at the end of its run; its log: "
           "~/.clade/keys/digits/worker.log");
  CHECK(outcome(76, "")
        == "- anna@gpu1: clade is not there; --program names where it is");
  CHECK(outcome(77, "with status 2: clade: no slots\n")
        == "- anna@gpu1: the worker ended with status 2: clade: no slots (its log: "
           "~/.clade/keys/digits/worker.log)");
  CHECK(outcome(255, "a banner\r\nPermission denied (publickey).\r\n")
        == "- anna@gpu1: ssh failed: Permission denied (publickey).");
  CHECK(outcome(1, "sh: mkdir: read-only\n")
        == "- anna@gpu1: failed with status 1: sh: mkdir: read-only");
}
