#include "libclient/protocol/flow_windows.h"

#include <algorithm>

namespace spindle::protocol {

void FlowWindows::sent(std::uint32_t handle, std::size_t bytes) {
  if (handle >= outstanding_.size()) outstanding_.resize(handle + 1, 0);
  outstanding_[handle] += bytes;
}

bool FlowWindows::admitted(const Admitted& admitted) {
  if (admitted.bytes > outstanding(admitted.handle)) return false;
  outstanding_[admitted.handle] -= admitted.bytes;
  return true;
}

void FlowWindows::want(std::uint32_t handle, std::string_view destinations) {
  std::vector<std::string>& wanted = wanted_[handle];
  if (std::find(wanted.begin(), wanted.end(), destinations) == wanted.end()) wanted.emplace_back(destinations);
}

void FlowWindows::take_ready(std::uint32_t handle, std::vector<std::string>& ready) {
  const auto wanted = wanted_.find(handle);
  if (wanted == wanted_.end() || outstanding(handle) > kFlowWindowBytes / 2) return;
  for (std::string& destinations : wanted->second) ready.push_back(std::move(destinations));
  wanted_.erase(wanted);
}

void FlowWindows::take_all_ready(std::vector<std::string>& ready) {
  std::vector<std::uint32_t> handles;
  for (const auto& [handle, destinations] : wanted_) handles.push_back(handle);
  for (const std::uint32_t handle : handles) take_ready(handle, ready);
}

}  // namespace spindle::protocol
