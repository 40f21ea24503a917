#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// Returns openapi.json beside this file. "@submission@", "@entry@" and "@keys@" stand in it
/// for the fields of a submission, for those that an entry shows behind one another, and for
/// the keys of these.
[[nodiscard]] std::string_view openapi_frame();

/// Returns the answers of a queue's server, as an OpenAPI document: the frame, with what the
/// list of a submission's fields says (engine/queue/queue_entry.hpp).
[[nodiscard]] const std::string& openapi_text();

/// Which methods the paths of an OpenAPI document have.
class documented_paths {
public:
  /// Returns the paths of `openapi_text()`.
  documented_paths();

  /// "DELETE, GET" for "/v1/entries/7"; empty for a path that is not in the document. Who
  /// may GET may HEAD, which is not said.
  [[nodiscard]] std::string methods_of(std::string_view path) const;

private:
  struct documented_path {
    std::vector<std::string> parts; ///< Between slashes; "{id}" is any.
    std::string methods;
  };
  std::vector<documented_path> paths_;
};

} // namespace clade
