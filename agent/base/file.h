// Files read and written whole. Errors name the path and what the system said.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace kagent {

// Errors: kNotFound, kIo (a folder, no permission, larger than `most_bytes`).
// A descriptor of a file that is kagent's own, made if `flags` say so. Errors: kNotFound, kIo, also for what is no
// plain file.
Result<int> open_own_file(const std::string& path, int flags);

// Of a file that is kagent's own: no symbolic link, FIFO or device is followed or waited for.
Result<std::string> read_own_file(const std::string& path, std::size_t most_bytes = std::size_t{1} << 30);

Result<std::string> read_file(const std::string& path, std::size_t most_bytes = std::size_t{1} << 30);

// Writes to a temporary file beside it, syncs and renames: a reader sees the old or the new contents, never a part.
// Creates parent folders. Errors: kIo (disk full, read-only, ...); the old file is then untouched.
Status write_file(const std::string& path, std::string_view bytes);

// The same for a file that must not exist yet: of two processes that race, one wins. Errors: kBusy (it exists), kIo.
Status create_file(const std::string& path, std::string_view bytes);

// mkdir -p. Errors: kIo.
Status make_folder(const std::string& path);

// Makes a new or renamed file's name durable. Best effort: some file systems refuse.
void sync_folder_of(const std::string& path);

}  // namespace kagent
