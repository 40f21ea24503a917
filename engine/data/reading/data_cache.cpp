// file     := header padding features form
// header   := magic key{2} features form features_hash{2} form_hash{2}     a page with its
//             padding, so that features can be mapped by themselves
//
// A file is named after its key and taken only if it is a plain file of this user, as
// long as its header says, and both hashes are right; every byte but the padding is under
// one of them, or compared. It is written under another name and renamed, and never
// written to again: who has mapped it keeps what was there. Features that lie in a file
// without a name get this one, and are not written twice. Raise the number in the magic
// whenever `load_data` makes something else of the same files.

#include "engine/data/reading/data_cache.hpp"

#include "engine/data/columns/examples.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/memory/cache_folder.hpp"
#include "engine/data/memory/large_file.hpp"
#include "engine/data/reading/cached_form.hpp"
#include "genome/genes/hash.hpp"
#include "genome/genes/running_hash128.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace clade {
namespace {

struct file_header {
  std::array<char, 16> magic{'c', 'l', 'a', 'd', 'e', ' ', 'd', 'a',
                             't', 'a', ' ', '1', '1', 0,   0,   0};
  genome_hash key;
  std::uint64_t features = 0, form = 0; ///< How many bytes.
  genome_hash features_hash, form_hash;
  std::array<char, large_prefix_bytes - 80> padding{};
};
static_assert(sizeof(file_header) == large_prefix_bytes);
static_assert(std::is_trivially_copyable_v<file_header>);

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::filesystem::path file_of(const data_cache& cache, const cache_key& key) {
  return cache.folder / (to_text(key.name) + ".data");
}

constexpr std::int64_t seconds_of_a_day = 24 * 60 * 60;
/// A data set larger than the cache that nobody used for so long is removed.
constexpr auto large_kept = std::chrono::days(7);

struct mapping {
  std::shared_ptr<const void> memory;
  std::string_view bytes;
};

std::optional<mapping> map(const std::filesystem::path& file) {
  const unique_fd in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat is {};
  std::optional<mapping> out;
  if (in && ::fstat(in.get(), &is) == 0 && S_ISREG(is.st_mode) && is.st_uid == ::geteuid()
      && static_cast<std::uint64_t>(is.st_size) >= sizeof(file_header)) {
    const auto size = static_cast<std::size_t>(is.st_size);
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, in.get(), 0);
    if (at != MAP_FAILED)
      out = mapping{{at, [size](const void* p) { ::munmap(const_cast<void*>(p), size); }},
                    {static_cast<const char*>(at), size}};
    // Used now: the order in which files are removed goes by it. That of a large one also
    // tells that it is what it was, and changes once a day.
    if (size < least_remembered_bytes
        || std::time(nullptr) - is.st_mtim.tv_sec > seconds_of_a_day)
      ::futimens(in.get(), nullptr);
  }
  return out;
}

/// Names the file that the features lie in, if they do.
bool name_features(const std::filesystem::path& file, const data_cache& cache,
                   const file_header& h, const data_set& data, const std::string& form) {
  const auto header = std::bit_cast<std::array<char, sizeof h>>(h);
  const auto features = data.features.bytes();
  if (!name_large_file(features.data(), features.size(), {header.data(), header.size()},
                       form, file))
    return false;
  if (const auto is = state_of_file(file))
    known_checksums(cache.folder).keep(*is, h.features_hash, /*written_by_us=*/true);
  return true;
}

bool write_file(const std::filesystem::path& file, const file_header& h,
                const data_set& data, const std::string& form) {
  std::string temporary = file.string() + ".XXXXXX";
  unique_fd out(::mkostemp(temporary.data(), O_CLOEXEC)); // of mode 0600
  if (!out)
    return false;
  const auto header = std::bit_cast<std::array<char, sizeof h>>(h);
  bool written = true;
  for (const std::string_view part :
       {std::string_view(header.data(), header.size()), text_of(data.features.bytes()),
        std::string_view(form)})
    written = written && write_all(out.get(), part) == 0;
  written = out.close() == 0 && written;
  if (written && ::rename(temporary.c_str(), file.c_str()) == 0)
    return true;
  ::unlink(temporary.c_str());
  return false;
}

/// Returns the checksum of bytes that are mapped from a file, piece by piece: they need not
/// all be in memory at once.
genome_hash checksum_of_mapped(std::string_view bytes) {
  constexpr std::size_t most = std::size_t{64} << 20;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  running_hash128 sum;
  for (std::size_t from = 0; from < bytes.size(); from += most) {
    const auto piece = bytes.substr(from, most);
    sum.add(piece);
    if (bytes.size() < least_remembered_bytes)
      continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(piece.data()) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(piece.data() + piece.size());
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return sum.value();
}

/// Whether the features of a cached file are those that its header says; of a large one,
/// whether they were so when somebody looked, and the file has not changed since.
bool features_hold(const std::filesystem::path& file, const data_cache& cache,
                   std::string_view features, const genome_hash& wanted) {
  const known_checksums known(cache.folder);
  const auto is = state_of_file(file);
  if (is && known.find(*is) == wanted)
    return true;
  if (checksum_of_mapped(features) != wanted)
    return false;
  if (is)
    known.keep(*is, wanted, /*written_by_us=*/true);
  return true;
}

bool has_room(const std::filesystem::path& folder, std::uint64_t bytes) {
  std::error_code unknown;
  const auto space = std::filesystem::space(folder, unknown);
  return !unknown && space.available > bytes + bytes / 4;
}

// Removes what was used longest ago, what killed processes left behind too, until `added`
// bytes fit in. A data set larger than the cache is not counted, and goes after a week.
void make_room(const data_cache& cache, std::uint64_t added) {
  namespace fs = std::filesystem;
  struct entry {
    fs::file_time_type used;
    std::uint64_t size;
    fs::path path;
  };
  std::vector<entry> entries;
  std::error_code failed;
  std::uint64_t total = added > cache.most_bytes ? 0 : added;
  for (fs::directory_iterator at(cache.folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code gone;
    const std::string name = at->path().filename().string();
    const std::uint64_t size = at->file_size(gone);
    const auto used = at->last_write_time(gone);
    if (gone || name.find(".data") == std::string::npos)
      continue;
    if (size > cache.most_bytes) {
      if (fs::file_time_type::clock::now() - used > large_kept)
        fs::remove(at->path(), gone);
      continue;
    }
    entries.push_back({used, size, at->path()});
    total += size;
  }
  std::sort(entries.begin(), entries.end(),
            [](const entry& a, const entry& b) { return a.used < b.used; });
  for (const entry& e : entries) {
    if (total <= cache.most_bytes)
      return;
    fs::remove(e.path, failed);
    total -= e.size;
  }
}

} // namespace

data_cache users_cache() {
  return {.folder = users_cache_folder()};
}

std::optional<cache_key> key_of(const data_cache& cache, const data_params& params,
                                std::uint64_t seed) {
  if (cache.folder.empty())
    return std::nullopt;
  std::uint64_t bytes = 0;
  std::string text;
  const auto add = [&](const std::string& part) {
    text += fmt::format("{}:{}", part.size(), part);
  };
  for (const auto* file :
       {&params.file, &params.target_file, &params.test_file, &params.test_target_file}) {
    std::error_code failed;
    // Reading what was decoded before is always faster than to decode it.
    const bool images = !params.images.empty() || is_folder(*file);
    const auto size = file->empty() ? 0
                      : images      ? cache.least_bytes
                                    : std::filesystem::file_size(*file, failed);
    if (failed)
      return std::nullopt;
    bytes += size;
    add(file->filename().string()); // It may decide what the format is.
  }
  if (bytes < cache.least_bytes)
    return std::nullopt;
  const auto checksum = checksum_of_files(params);
  if (!checksum)
    return std::nullopt;
  for (const std::string& part :
       {params.array, params.target_array, params.test_array, params.test_target_array,
        params.target, params.header, to_text(params.shape), to_text(*checksum)})
    add(part);
  for (const std::string& target : params.targets)
    add("target " + target);
  if (!params.weights.empty())
    add("weights " + params.weights);
  for (const std::string& category : params.categories)
    add(category);
  for (const std::string& ignored : params.ignore)
    add("ignore " + ignored);
  for (const column_choice& c : params.columns)
    add(fmt::format("{} {}", to_text(c.kind), c.column));
  for (const std::string& form : {params.delimiter, params.decimal, params.encoding})
    add("form " + form);
  add(fmt::format("split {} {}", static_cast<int>(params.split_by), params.split_column));
  for (const double share : {params.train, params.validation, params.test})
    add(std::to_string(std::bit_cast<std::uint64_t>(share)));
  for (const std::uint64_t n :
       {std::uint64_t{place_of(params.task)}, static_cast<std::uint64_t>(params.blanks),
        params.limit, seed})
    add(std::to_string(n));
  if (params.task.has_quantiles())
    for (const double quantile : params.quantiles)
      add(quantile_name(quantile));
  if (params.test_limit)
    add(fmt::format("test {}", *params.test_limit));
  // Said always: forms of before there were layouts have other names.
  add(fmt::format("layout {}", static_cast<unsigned>(params.layout)));
  if (!params.images.empty())
    add("images " + params.images);
  if (params.forecast != forecast_params()) {
    add(fmt::format("forecast {} {} {}", params.forecast.horizon, params.forecast.season,
                    params.forecast.time));
    for (const std::string& key : params.forecast.series)
      add("series " + key);
    for (const std::string& known : params.forecast.known)
      add("known " + known);
    add("step " + params.forecast.step);
  }
  if (params.unreadable != data_params{}.unreadable)
    add(fmt::format("unreadable {}", params.unreadable));
  if (params.scale != scale_rule::deviation)
    add(fmt::format("scale {}", static_cast<unsigned>(params.scale)));
  if (params.texts != text_rule::terms)
    add(fmt::format("texts {}", static_cast<unsigned>(params.texts)));
  return cache_key{.name = hash128(text), .checksum = *checksum};
}

std::optional<data_set> find_cached(const data_cache& cache, const cache_key& key) {
  const auto mapped = map(file_of(cache, key));
  if (!mapped)
    return std::nullopt;
  file_header h;
  std::memcpy(&h, mapped->bytes.data(), sizeof h);
  const std::uint64_t rest = mapped->bytes.size() - sizeof h;
  if (h.magic != file_header{}.magic || h.key != key.name || h.features > rest
      || h.form != rest - h.features)
    return std::nullopt;
  const auto features = mapped->bytes.substr(sizeof h, h.features);
  const auto form = mapped->bytes.substr(mapped->bytes.size() - h.form);
  if (hash128(form) != h.form_hash
      || !features_hold(file_of(cache, key), cache, features, h.features_hash))
    return std::nullopt;
  auto data = parse_cached_form(form);
  if (!data || data->checksum != key.checksum)
    return std::nullopt;
  data->features = stored_numbers(
      data->features, std::as_bytes(std::span(features.data(), features.size())),
      mapped->memory);
  return data;
}

data_set keep_cached(const data_cache& cache, const cache_key& key, data_set data) {
  const std::string form = cached_form(data);
  const auto features = text_of(data.features.bytes());
  const file_header h{.key = key.name,
                      .features = features.size(),
                      .form = form.size(),
                      .features_hash = hash128(features),
                      .form_hash = hash128(form)};
  const std::uint64_t size = sizeof h + features.size() + form.size();
  if (!make_cache_folder(cache.folder))
    return data;
  make_room(cache, size);
  const auto file = file_of(cache, key);
  if (!name_features(file, cache, h, data, form)
      && ((size > cache.most_bytes && !has_room(cache.folder, size))
          || !write_file(file, h, data, form)))
    return data;
  auto mapped = find_cached(cache, key);
  return mapped ? std::move(*mapped) : std::move(data);
}

// One of a few files, which stay: to remove a lock that others may wait for is to have
// two. Different data rarely meets in one, and then only waits.
cache_lock::cache_lock(const data_cache& cache, const cache_key& key) {
  if (!make_cache_folder(cache.folder))
    return;
  const auto name = fmt::format("lock-{}", key.name.low % 16);
  file_.reset(::open((cache.folder / name).c_str(),
                     O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  while (file_ && ::flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

} // namespace clade
