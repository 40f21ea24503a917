#include "engine/queue/submission_rules.hpp"
#include "genome/base/child_process.hpp"
#include "genome/base/utf8.hpp"
#include "tools/cli/queue/cluster_entries.hpp"
#include "tools/cli/queue/queue_option.hpp"
#include "tools/jobs/scripts.hpp"
#include "tools/machine/slots.hpp"
#include "tools/machine/standard_streams.hpp"
#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/head/queue_head.hpp"
#include "tools/queue/head/queue_json.hpp"

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct submit_options {
  std::filesystem::path queue;
  queue_submission what;
  std::string first;
  std::vector<std::string> others;
  std::string time = "0s";
  bool train = false, json = false;
  cluster_choice cluster;
  cluster_job job;
  bool dry = false;
};

/// Puts it into the store of a queue that nobody serves now, for who does next: the folder
/// is the queue's own, and who may read it is its admin.
expected<ordered_json> submit_to_store(const std::filesystem::path& folder,
                                       queue_submission what) {
  const auto user = read_token(folder).and_then(
      [&](const std::string& token) { return queue_tokens(folder).find(token); });
  if (!user)
    return tl::unexpected(user.error());
  what.user = user->name;
  return queue_head::open({.processes = {.folder = folder}, .takes_any = true})
      .and_then([&](const std::unique_ptr<queue_head>& head) {
        return head->submit({std::move(what)});
      })
      .map([&](const std::vector<entry_id>& ids) {
        std::cerr << "clade: nobody serves " << folder.string()
                  << " now; the next clade serve starts it\n";
        return ordered_json(ids.front());
      });
}

expected<ordered_json> submit_to_server(const submit_options& options) {
  return open_queue(options.queue)
      .and_then([&](queue_client client) {
        return client.post("/v1/entries", {{"entries", {submission_json(options.what)}}},
                           ids_answer, !options.what.once.empty());
      })
      .and_then([](const ordered_json& answer) -> expected<ordered_json> {
        if (answer.at("ids").size() != 1)
          return fail(error_kind::invalid_input,
                      "the server does not say which number the entry has");
        for (const auto& note : answer.value("notes", ordered_json::array()))
          if (note.is_string())
            std::cerr << "clade: " << plain_text(note.get<std::string>()) << "\n";
        return answer.at("ids").at(0);
      });
}

expected<ordered_json> submit_to_queue(const submit_options& options) {
  for (const auto& [given, name] : {std::pair{!options.job.image.empty(), "--image"},
                                    std::pair{!options.job.options.empty(), "--sbatch"},
                                    std::pair{!options.job.program.empty(), "--program"},
                                    std::pair{options.dry, "--dry-run"}})
    if (given)
      return fail(error_kind::invalid_input,
                  std::string(name) + " is for a cluster; say which by --to");
  if (auto ok = check_submission(options.what); !ok)
    return tl::unexpected(ok.error());
  auto id = submit_to_server(options);
  std::error_code none;
  if (id || id.error().kind != error_kind::not_found
      || !std::filesystem::exists(options.queue / tokens_file_name, none))
    return id;
  return submit_to_store(std::filesystem::absolute(options.queue).lexically_normal(),
                         options.what);
}

/// Returns its id; of a dry run null, once it has printed what would be submitted.
expected<ordered_json> submit_to_cluster(submit_options& options) {
  if (!options.what.once.empty())
    return fail(error_kind::invalid_input, "--once is for a queue of clade serve");
  auto& job = options.job;
  job.what = options.what;
  job.what.user = own_user_name();
  if (job.program.empty())
    job.program = options.cluster.to == "slurm" ? own_program().string() : "clade";
  const auto c = open_cluster(options.cluster.to, options.cluster.name_space);
  if (!c)
    return tl::unexpected(c.error());
  if (options.dry)
    return (*c)->text(job).map([](const std::string& text) {
      print_data(text);
      return ordered_json();
    });
  return (*c)->submit(job).map([](const std::string& id) { return ordered_json(id); });
}

/// A script of this directory is started by what it says or is, as sbatch does it.
expected<void> start_script(std::vector<std::string>& words) {
  const std::filesystem::path file = words.front();
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)
      || (!file.has_parent_path() && find_program(words.front())))
    return {};
  return words_to_start(file.has_parent_path() ? file : "." / file)
      .map([&](std::vector<std::string> started) {
        words.erase(words.begin());
        words.insert(words.begin(), started.begin(), started.end());
      });
}

int submit(submit_options options) {
  auto& s = options.what;
  const auto time = parse_time("--time", options.time);
  if (!time)
    return report(time.error());
  s.words = {options.first};
  s.words.insert(s.words.end(), options.others.begin(), options.others.end());
  s.time = std::chrono::ceil<std::chrono::seconds>(*time);
  if (options.train)
    s.kind = entry_kind::train;
  else if (options.first.ends_with(".toml")) {
    s.kind = entry_kind::run;
    std::error_code none;
    if (options.cluster.to != "kubernetes"
        && !std::filesystem::exists(options.first, none))
      return report({error_kind::not_found, options.first + ": there is no such file"});
    // The files of Kubernetes are those of an image.
  } else if (options.cluster.to != "kubernetes")
    if (auto ok = start_script(s.words); !ok)
      return report(ok.error());
  s.directory = std::filesystem::current_path().string();
  const auto id =
      options.cluster.to.empty() ? submit_to_queue(options) : submit_to_cluster(options);
  if (!id)
    return report(id.error());
  if (options.dry)
    return 0;
  if (options.json)
    std::cout << text_of({{"id", *id}}) << "\n";
  else
    std::cout << (id->is_string() ? id->get<std::string>() : text_of(*id)) << "\n";
  return 0;
}

} // namespace

void add_submit(CLI::App& app, command& chosen) {
  auto options = std::make_shared<submit_options>();
  auto* sub = app.add_subcommand("submit", "Put a run or a command into a queue");
  auto& s = options->what;
  add_queue_option(*sub, options->queue);
  sub->add_option("what", options->first,
                  "An experiment file, NAME.toml, to be run; or, behind --, a program")
      ->required();
  // An option of its own: else "--" behind the file would end the command.
  sub->add_option("words", options->others,
                  "Behind --: options of clade run, or what the program is given");
  sub->add_flag("--train", options->train,
                "What follows is for clade train: one network is trained");
  sub->add_option("--name", s.name, "For people");
  sub->add_option("--priority", s.priority, "Larger is sooner")->capture_default_str();
  sub->add_option("--slots", s.slots, "How many slots it gets, all at once")
      ->capture_default_str();
  sub->add_option("--ranks", s.ranks,
                  "Start the command so many times at once, each with its share of the "
                  "slots; without --slots each has one");
  sub->add_option("--device", s.device, "The kind of its slots: cpu or cuda");
  sub->add_option("--time", options->time,
                  "How long it may run, such as 2h. What says so may begin before an "
                  "entry that waits for many slots")
      ->capture_default_str();
  sub->add_option("--after", s.after, "Entries that must have succeeded before")
      ->allow_extra_args(false)
      ->delimiter(',');
  sub->add_option("--once", s.once,
                  "A word of yours: what you have submitted under it already is not "
                  "submitted again, and its number is printed");
  sub->add_flag("--requeue", s.requeue,
                "A command that may be stopped for a higher priority, and begun again");
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  add_cluster_options(*sub, options->cluster);
  sub->add_option("--image", options->job.image,
                  "For Kubernetes: the image that has the program");
  sub->add_option("--sbatch", options->job.options,
                  "For SLURM: an option of sbatch, such as --sbatch partition=gpu; "
                  "repeatable")
      ->allow_extra_args(false);
  sub->add_option("--program", options->job.program,
                  "For a run in a cluster: clade there; else this one, or the image's");
  sub->add_flag("--dry-run", options->dry,
                "Print what a cluster would be given, and do nothing");
  sub->footer(
      "Prints the entry's number. Examples:\n"
      "  clade submit experiments/digits.toml --slots 2 -- --seed 3\n"
      "  clade submit --after 1 --priority 5 -- python3 plot.py --all\n"
      "  clade submit --train -- digits --epochs 200\n"
      "  clade submit --ranks 2 --device cuda -- python3 train_ddp.py\n"
      "  clade submit --to slurm --slots 4 --device cuda --time 2h -- python3 train.py\n"
      "  clade submit --to kubernetes --image example.org/train:1 -- python3 train.py\n"
      "It works in this directory, as the user who runs clade serve, or clade worker on\n"
      "another machine, with that one's environment. A command finds its slots in\n"
      "CLADE_SLOTS and CUDA_VISIBLE_DEVICES, and may itself submit and wait, as its "
      "user:\n"
      "CLADE_QUEUE says where. With --ranks it finds RANK, LOCAL_RANK, WORLD_SIZE,\n"
      "MASTER_ADDR and MASTER_PORT, as torchrun sets them; when one fails, all are "
      "ended.");
  sub->callback([&chosen, options, sub] {
    if (sub->count("--slots") == 0)
      options->what.slots = options->what.ranks.value_or(1);
    chosen = [options] { return submit(*options); };
  });
}

} // namespace clade
