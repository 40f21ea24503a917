#pragma once

#include <string>
#include <string_view>

namespace clade {

/// `text` as one word of a POSIX shell, whatever it holds: "a b" becomes 'a b', "it's"
/// becomes 'it'\''s'. A text that needs no quotes is left as it is. Only a byte 0 cannot
/// be said; no argument of a program and no file's name has one.
[[nodiscard]] std::string shell_word(std::string_view text);

} // namespace clade
