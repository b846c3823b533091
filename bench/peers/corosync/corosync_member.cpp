#include "bench/peers/corosync/corosync_member.h"

#include <poll.h>
#include <sys/uio.h>

#include <cstring>

#include "bench/hosts/client_lines.h"

namespace spindle::bench {
namespace {

// How long to wait for messages at most: while something is to be sent that the daemon had no room for, and otherwise
// until somebody may want this to end.
constexpr int kRetryMs = 1;
constexpr int kIdleMs = 100;

}  // namespace

CorosyncMember::CorosyncMember(const std::string& group) {
  group_.length = static_cast<std::uint32_t>(group.copy(group_.value, sizeof group_.value - 1));
  cpg_model_v1_data_t model{};
  model.model = CPG_MODEL_V1;
  model.cpg_deliver_fn = [](cpg_handle_t handle, const cpg_name*, std::uint32_t, std::uint32_t, void* message,
                            std::size_t size) {
    of(handle).deliver(std::span(static_cast<const std::byte*>(message), size));
  };
  model.cpg_confchg_fn = [](cpg_handle_t handle, const cpg_name*, const cpg_address*, std::size_t members,
                            const cpg_address*, std::size_t, const cpg_address*,
                            std::size_t) { of(handle).count_members(members); };
  const cs_error_t error =
      cpg_model_initialize(&handle_, CPG_MODEL_V1, reinterpret_cast<cpg_model_data_t*>(&model), this);
  if (error != CS_OK) fail("cannot connect to Corosync: error {}", static_cast<int>(error));
}

CorosyncMember::~CorosyncMember() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  cpg_finalize(handle_);
}

CorosyncMember& CorosyncMember::of(cpg_handle_t handle) {
  void* context = nullptr;
  if (cpg_context_get(handle, &context) != CS_OK) fail("a message without context arrived");
  return *static_cast<CorosyncMember*>(context);
}

void CorosyncMember::join(std::size_t members, Receive receive) {
  receive_ = std::move(receive);
  members_ = members;
  cs_error_t error = CS_OK;
  do {
    error = cpg_join(handle_, &group_);
    if (error == CS_ERR_TRY_AGAIN) ::poll(nullptr, 0, kRetryMs);
  } while (error == CS_ERR_TRY_AGAIN);
  if (error != CS_OK) fail("cannot join: error {}", static_cast<int>(error));
  thread_ = std::thread([this] { run(); });
  complete_.get_future().wait();
}

void CorosyncMember::count_members(std::size_t members) {
  if (members != members_ || is_complete_) return;
  is_complete_ = true;
  complete_.set_value();
}

void CorosyncMember::send(std::span<const std::byte> payload) {
  const std::scoped_lock lock(mutex_);
  if (waiting_.empty() && try_send(payload)) return;
  waiting_.emplace_back(payload.begin(), payload.end());
}

bool CorosyncMember::try_send(std::span<const std::byte> payload) {
  const iovec piece{const_cast<std::byte*>(payload.data()), payload.size()};
  const cs_error_t error = cpg_mcast_joined(handle_, CPG_TYPE_AGREED, &piece, 1);
  if (error == CS_ERR_TRY_AGAIN) return false;
  if (error != CS_OK) fail("cannot send: error {}", static_cast<int>(error));
  return true;
}

void CorosyncMember::send_waiting() {
  const std::scoped_lock lock(mutex_);
  while (!waiting_.empty() && try_send(waiting_.front())) waiting_.pop_front();
}

void CorosyncMember::run() {
  int descriptor = -1;
  if (cpg_fd_get(handle_, &descriptor) != CS_OK) fail("Corosync has no descriptor to wait for");
  while (!ends_) {
    bool waits = false;
    {
      const std::scoped_lock lock(mutex_);
      waits = !waiting_.empty();
    }
    pollfd ready{descriptor, POLLIN, 0};
    ::poll(&ready, 1, waits ? kRetryMs : kIdleMs);
    const cs_error_t error = cpg_dispatch(handle_, CS_DISPATCH_ALL);
    if (error != CS_OK && error != CS_ERR_TRY_AGAIN) fail("cannot receive: error {}", static_cast<int>(error));
    if (waits) send_waiting();
  }
}

}  // namespace spindle::bench
