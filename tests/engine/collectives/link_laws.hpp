#pragma once

#include "engine/collectives/links.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace clade::test {

using member_work = std::function<void(links&)>;
/// Does the work in a thread for each of so many members, all linked, and returns when all
/// have ended; the first exception is thrown on.
using run_members = std::function<void(std::size_t members, const member_work& work)>;

/// Runs `work` with the link of each member in a thread of its own.
void run_linked(std::vector<std::unique_ptr<links>> all, const member_work& work);

/// Checks the laws that hold for any links: order, sizes, mutual sending, and the results
/// of collectives, bit for bit.
void check_links(const run_members& run);

} // namespace clade::test
