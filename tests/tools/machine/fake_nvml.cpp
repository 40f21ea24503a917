// Stands in for NVIDIA's libnvidia-ml.so.1, with the cards that the environment
// describes:
//
//   FAKE_NVML_CARDS  cards, with ";" between them: "UUID|NAME|TOTAL|FREE", or "denied"
//                    for one that belongs to somebody else
//   FAKE_NVML_CUDA   the latest CUDA of the driver: 13000, as where it is not set
//   FAKE_NVML_FAILS  "FUNCTION=STATUS": what that function answers
//
// The signatures are those of nvml.h, with void* for pointers to its types
// (tools/machine/nvml.cpp); a card's handle is its text.

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

struct nvmlDevice_st {
  std::vector<std::string> fields;
};

struct nvmlMemory_st {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

namespace {

constexpr int success = 0, uninitialized = 1, invalid_argument = 2, no_permission = 4,
              insufficient_size = 7;

bool initialized = false;
std::vector<nvmlDevice_st> cards;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    parts.push_back(part);
  return parts;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Returns the status that a function must answer before it does anything.
int status_of(const std::string& function) {
  const auto fails = split(variable("FAKE_NVML_FAILS"), '=');
  if (fails.size() == 2 && fails[0] == function)
    return std::stoi(fails[1]);
  return initialized ? success : uninitialized;
}

int copy(const std::string& text, char* to, unsigned length) {
  if (text.size() + 1 > length)
    return insufficient_size;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return success;
}

const std::string& text_of(const void* device, std::size_t field) {
  return static_cast<const nvmlDevice_st*>(device)->fields.at(field);
}

} // namespace

extern "C" {

int nvmlInit_v2() {
  initialized = true;
  cards.clear();
  for (const auto& card : split(variable("FAKE_NVML_CARDS"), ';'))
    cards.push_back({split(card, '|')});
  return status_of("nvmlInit_v2");
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  const auto said = variable("FAKE_NVML_CUDA");
  *version = said.empty() ? 13000 : std::stoi(said);
  return status_of("nvmlSystemGetCudaDriverVersion_v2");
}

int nvmlShutdown() {
  const int status = status_of("nvmlShutdown");
  initialized = false;
  return status;
}

const char* nvmlErrorString(int status) {
  return status == 9     ? "Driver Not Loaded"
         : status == 999 ? "Unknown Error"
                         : "Something else";
}

int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = static_cast<unsigned>(cards.size());
  return status_of("nvmlDeviceGetCount_v2");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  if (index >= cards.size())
    return invalid_argument;
  if (cards[index].fields[0] == "denied")
    return no_permission;
  *device = &cards[index];
  return status_of("nvmlDeviceGetHandleByIndex_v2");
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned int length) {
  const int status = status_of("nvmlDeviceGetUUID");
  return status != success ? status : copy(text_of(device, 0), uuid, length);
}

int nvmlDeviceGetName(void* device, char* name, unsigned int length) {
  const int status = status_of("nvmlDeviceGetName");
  return status != success ? status : copy(text_of(device, 1), name, length);
}

int nvmlDeviceGetMemoryInfo(void* device, void* memory) {
  const int status = status_of("nvmlDeviceGetMemoryInfo");
  if (status != success)
    return status;
  const auto total = std::stoull(text_of(device, 2)),
             free = std::stoull(text_of(device, 3));
  *static_cast<nvmlMemory_st*>(memory) = {
      .total = total, .free = free, .used = total - free};
  return success;
}
}
