// norm_client: a stream over NORM (RFC 5740), by multicast. See bench/hosts/feeds/stream_program.h.
#include <normApi.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/feeds/stream_program.h"

namespace spindle::bench {
namespace {

constexpr unsigned kBufferBytes = 4 << 20;
// What fits into a frame of an Ethernet beside all heads.
constexpr std::uint16_t kSegmentBytes = 1400;
constexpr NormNodeId kSenderId = 1;

struct Options {
  std::string group = "239.98.1.1";
  std::uint16_t port = 4860;
  std::string device = "eth0";
  std::uint32_t node = 2;         // of a receiver
  double bits_per_second = 20e6;  // where there is no congestion control
  bool congestion_control = false;
  double round_trip = 0.02;         // s, before it is measured
  double backoff = 0;               // round trips that a request waits at most
  unsigned stream_bytes = 4 << 20;  // what the source keeps, sent or not
  std::uint16_t block = 8;          // segments: what is lost of a block is asked for at its end
  std::uint16_t parity = 4;
};

/// A session in an instance of the library, which has threads of its own.
class Session {
 public:
  Session(const Options& options, NormNodeId node) : instance_(NormCreateInstance()) {
    if (instance_ == NORM_INSTANCE_INVALID) fail("NORM does not start");
    session_ = NormCreateSession(instance_, options.group.c_str(), options.port, node);
    if (session_ == NORM_SESSION_INVALID) fail("no session with {}", options.group);
    if (!NormSetMulticastInterface(session_, options.device.c_str())) fail("there is no {}", options.device);
    NormSetBackoffFactor(session_, options.backoff);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    NormStopInstance(instance_);  // whoever waits for an event goes on
    if (events_.joinable()) events_.join();
    NormDestroyInstance(instance_);
  }

  NormSessionHandle get() const { return session_; }

  /// Events have to be taken, whatever they are of.
  template <typename Handle>
  void take_events(Handle handle) {
    events_ = std::thread([this, handle] {
      NormEvent event;
      while (NormGetNextEvent(instance_, &event)) handle(event);
    });
  }

 private:
  NormInstanceHandle instance_;
  NormSessionHandle session_ = NORM_SESSION_INVALID;
  std::thread events_;
};

/// Each message is flushed at once, and ends a message of the stream.
class Source final : public StreamSource {
 public:
  Source(const Options& options, const StreamPlan& plan) : session_(options, kSenderId) {
    NormSetGrttEstimate(session_.get(), options.round_trip);
    NormSetGroupSize(session_.get(), static_cast<unsigned>(plan.receivers));
    NormSetTxRate(session_.get(), options.bits_per_second);
    if (options.congestion_control) NormSetCongestionControl(session_.get(), true);
    if (!NormStartSender(session_.get(), NormGetRandomSessionId(), kBufferBytes, kSegmentBytes, options.block,
                         options.parity)) {
      fail("the sender does not start");
    }
    stream_ = NormStreamOpen(session_.get(), options.stream_bytes);
    if (stream_ == NORM_OBJECT_INVALID) fail("there is no stream");
    session_.take_events([](const NormEvent&) {});
  }

  bool send(std::span<const std::byte> message) override {
    if (!write_rest()) return false;
    const std::size_t written = write(message);
    if (written == 0) return false;
    rest_.assign(message.begin() + static_cast<std::ptrdiff_t>(written), message.end());
    if (rest_.empty()) end_message();
    return true;
  }

 private:
  std::size_t write(std::span<const std::byte> bytes) {
    return NormStreamWrite(stream_, reinterpret_cast<const char*>(bytes.data()), static_cast<unsigned>(bytes.size()));
  }

  /// Of the last message, of which a part was taken; whether all of it is now.
  bool write_rest() {
    if (rest_.empty()) return true;
    rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(write(rest_)));
    if (rest_.empty()) end_message();
    return rest_.empty();
  }

  void end_message() { NormStreamFlush(stream_, true, NORM_FLUSH_PASSIVE); }

  Session session_;
  NormObjectHandle stream_ = NORM_OBJECT_INVALID;
  std::vector<std::byte> rest_;
};

/// Messages have all the same size.
class Receiver final : public StreamReceiver {
 public:
  Receiver(const Options& options, const StreamPlan& plan, StreamReceive receive)
      : receive_(std::move(receive)), message_(plan.bytes), session_(options, options.node) {
    NormSetGroupSize(session_.get(), static_cast<unsigned>(plan.receivers));
    if (!NormStartReceiver(session_.get(), kBufferBytes)) fail("the receiver does not start");
    NormSetRxSocketBuffer(session_.get(), kBufferBytes);
    session_.take_events([this](const NormEvent& event) {
      if (event.type == NORM_RX_OBJECT_UPDATED) read(event.object);
    });
  }

 private:
  void read(NormObjectHandle stream) {
    for (;;) {
      if (!in_step_) {
        if (!NormStreamSeekMsgStart(stream)) return;
        in_step_ = true;
        filled_ = 0;
      }
      auto bytes = static_cast<unsigned>(message_.size() - filled_);
      if (!NormStreamRead(stream, reinterpret_cast<char*>(message_.data()) + filled_, &bytes)) {
        in_step_ = false;  // something is lost for good
        continue;
      }
      if (bytes == 0) return;
      filled_ += bytes;
      if (filled_ < message_.size()) continue;
      receive_(message_);
      filled_ = 0;
    }
  }

  StreamReceive receive_;
  std::vector<std::byte> message_;
  std::size_t filled_ = 0;
  bool in_step_ = false;
  Session session_;  // the last member: its threads use the others
};

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  Options options;
  return run_stream(
      argc, argv,
      {.name = "norm_client",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--group", options.group, "multicast address");
             app.add_option("--port", options.port);
             app.add_option("--device", options.device);
             app.add_option("--node", options.node, "a receiver's number, from 2 on")->check(CLI::Range(2, 1 << 30));
             app.add_option("--bits", options.bits_per_second, "bits a second, where nothing controls the rate");
             app.add_flag("--congestion-control", options.congestion_control);
             app.add_option("--round-trip", options.round_trip, "seconds, before it is measured");
             app.add_option("--backoff", options.backoff, "round trips that a request waits at most");
             app.add_option("--stream-bytes", options.stream_bytes, "what the source keeps, sent or not");
             app.add_option("--block", options.block, "segments");
             app.add_option("--parity", options.parity, "segments of a block that repair it");
           },
       .make_source = [&](const StreamPlan& plan) { return std::make_unique<Source>(options, plan); },
       .make_receiver =
           [&](const StreamPlan& plan, StreamReceive receive) {
             return std::make_unique<Receiver>(options, plan, std::move(receive));
           }});
}
