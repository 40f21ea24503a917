// The kernel is asked for the socket that has the two addresses the other way round
// (sock_diag(7)). Many kernels say of a socket that no process has that it is of user 0;
// its inode is 0 then.
#include "actors/transport/tls/peer_user.hpp"

#include "genome/base/unique_fd.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace clade {

namespace {

struct question {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

/// Copies an address into the four words that the kernel wants.
std::uint16_t split(const sockaddr_storage& from, __be32 (&words)[4]) {
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    std::memcpy(words, &v4.sin_addr, sizeof(v4.sin_addr));
    return v4.sin_port;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
  std::memcpy(words, &v6.sin6_addr, sizeof(v6.sin6_addr));
  return v6.sin6_port;
}

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24
           == IN_LOOPBACKNET;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6)
         || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == IN_LOOPBACKNET);
}

peer_user ask(int netlink, const question& asked, bool loopback) {
  alignas(nlmsghdr) char answer[1024];
  const auto gone = loopback ? peer_user::is::absent : peer_user::is::untold;
  if (::send(netlink, &asked, sizeof(asked), 0) != static_cast<ssize_t>(sizeof(asked)))
    return {};
  const auto count = ::recv(netlink, answer, sizeof(answer), 0);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (count >= static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))
      && header->nlmsg_type == NLMSG_ERROR)
    return static_cast<const nlmsgerr*>(NLMSG_DATA(header))->error == -ENOENT
               ? peer_user{.found = gone}
               : peer_user{};
  if (count < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg)))
      || header->nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return {};
  const auto* seen = static_cast<const inet_diag_msg*>(NLMSG_DATA(header));
  return seen->idiag_inode == 0
             ? peer_user{.found = gone}
             : peer_user{.found = peer_user::is::known, .user = seen->idiag_uid};
}

} // namespace

peer_user user_of_peer(int descriptor) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof(own), peer_size = sizeof(peer);
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) != 0
      || ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0
      || (peer.ss_family != AF_INET && peer.ss_family != AF_INET6))
    return {};
  question asked{};
  asked.header.nlmsg_len = sizeof(asked);
  asked.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  asked.header.nlmsg_flags = NLM_F_REQUEST;
  asked.body.sdiag_family = static_cast<__u8>(peer.ss_family);
  asked.body.sdiag_protocol = IPPROTO_TCP;
  asked.body.idiag_states = ~0U;
  asked.body.id.idiag_sport = split(peer, asked.body.id.idiag_src);
  asked.body.id.idiag_dport = split(own, asked.body.id.idiag_dst);
  asked.body.id.idiag_cookie[0] = asked.body.id.idiag_cookie[1] =
      static_cast<__u32>(INET_DIAG_NOCOOKIE);
  const unique_fd netlink(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  return netlink ? ask(netlink.get(), asked, is_loopback(peer)) : peer_user{};
}

} // namespace clade
