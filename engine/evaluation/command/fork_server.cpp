#include "engine/evaluation/command/fork_server.hpp"

#include "engine/evaluation/process/process_table.hpp"
#include "engine/evaluation/process/program_run.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace clade {

namespace {

/// Returns the text that the server reads of a program.
std::string order_of(const program_params& params) {
  std::string text;
  const auto add = [&](std::string_view word) { (text += word) += '\0'; };
  add(params.directory.string());
  add(std::to_string(params.command.size() - 1));
  for (std::size_t i = 1; i < params.command.size(); ++i)
    add(params.command[i]);
  for (const auto& variable : params.environment)
    add(variable);
  return text;
}

/// Sends descriptors; errno says why not.
bool send_files(int line, const std::array<int, 4>& files) {
  char nothing = 0;
  iovec part{.iov_base = &nothing, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof files)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  auto* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof files);
  std::memcpy(CMSG_DATA(header), files.data(), sizeof files);
  ssize_t sent = 0;
  while ((sent = ::sendmsg(line, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  return sent == 1;
}

} // namespace

/// A process that the server has forked.
class fork_server::forked_program final : public followed_process {
public:
  explicit forked_program(server& s) : server_(s) {}

  /// Whether the server can be asked for another one.
  [[nodiscard]] bool server_is_sound() const { return sound_ && ended_; }

  [[nodiscard]] int descriptor() const override {
    return sound_ ? server_.line.get() : server_.process->descriptor();
  }

  [[nodiscard]] std::optional<int> take_end() override {
    int status = 0;
    if (sound_) {
      const auto count = ::recv(server_.line.get(), &status, sizeof status, MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return std::nullopt;
      ended_ = sound_ = count == sizeof status;
    }
    // A server that has ended took its program with it, and its end is the program's.
    return sound_ ? std::optional(status) : server_.process->take_end();
  }

  void tell_to_end() override { server_.process->tell_to_end(); }

  void kill() override {
    sound_ = false;
    server_.process->kill();
  }

  void end_rest() override {
    if (sound_)
      server_.process->end_what_is_left();
    else
      server_.process->end_rest();
  }

  [[nodiscard]] std::uint64_t resident_bytes() const override {
    return resident_bytes_below(server_.process->guard(), server_.id);
  }

private:
  server& server_;
  bool sound_ = true, ended_ = false;
};

expected<void> fork_server::start(const program_params& params) {
  const auto file = program_file(params.command, params.directory);
  if (!file)
    return tl::unexpected(file.error());
  auto line = socket_pair::make(SOCK_SEQPACKET);
  if (!line)
    return tl::unexpected(std::move(line).error());
  const unique_fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  server_.emplace(server{.group = group_for(params)});
  const auto enter = entering(params, server_->group ? &*server_->group : nullptr);
  std::vector<std::string> command{file->string(), "-c", std::string(fork_server_text()),
                                   std::to_string(line->its.get())};
  command.insert(command.end(), modules_.begin(), modules_.end());
  auto started = guarded_process::start(
      {.command = std::move(command),
       .environment = params.environment,
       .directory = params.directory,
       .input = nothing.get(),
       .output = nothing.get(),
       .errors = nothing.get(),
       .inherited = line->its.get()},
      [&] {
        const pid_t self = ::getpid();
        return ::send(line->its.get(), &self, sizeof self, MSG_NOSIGNAL) == sizeof self
               && enter();
      });
  if (!started) {
    server_.reset();
    return tl::unexpected(std::move(started).error());
  }
  server_->process = std::move(*started);
  server_->line = std::move(line->ours);
  // It was sent before the program was there.
  [[maybe_unused]] const auto heard =
      ::recv(server_->line.get(), &server_->id, sizeof server_->id, MSG_DONTWAIT);
  return {};
}

/// Asks the server for a process, or a new server where there is none any more: somebody
/// has killed it, which its guard may not have told yet.
expected<void> fork_server::ask(const program_params& params, const program_ends& ends) {
  const auto failed = [] {
    return fail(error_kind::io,
                std::string("cannot ask for a process: ") + std::strerror(errno));
  };
  const auto order = memory_file(order_of(params));
  if (!order)
    return failed();
  const auto send = [&] {
    return send_files(server_->line.get(), {order.get(), ends.input.get(),
                                            ends.output.get(), ends.errors.get()});
  };
  if (server_ && !server_->process->take_end() && send())
    return {};
  server_.reset();
  if (auto started = start(params); !started)
    return started;
  if (!send())
    return failed();
  return {};
}

expected<program_result> fork_server::run(const program_params& params) {
  std::optional<forked_program> program;
  auto done = follow_program(
      params, nullptr, [&](const program_ends& ends) -> expected<followed_process*> {
        if (auto asked = ask(params, ends); !asked)
          return tl::unexpected(std::move(asked).error());
        return &program.emplace(*server_);
      });
  const bool out_of_memory = server_ && server_->group && server_->group->out_of_memory();
  if (done && done->end == program_end::by_itself && out_of_memory)
    done->end = program_end::out_of_memory;
  if (!program || !program->server_is_sound() || out_of_memory)
    server_.reset();
  return done;
}

} // namespace clade
