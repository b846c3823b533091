// The connection beside which content travels, for tests of the bulk thread.
#pragma once

#include "libclient/src/bulk_io.h"

namespace spindle::test {

/// A connection that is lost.
class LostSession final : public BulkSession {
 public:
  std::error_code ask(protocol::BulkRequest) override { return Errc::not_connected; }
  void give(Event) override {}
  void ask_and_give(protocol::BulkRequest, Event) override {}
  void note_failure(const bulk::BulkChannelId&, const StoreFailure&) override {}
  bool is_told() const override { return false; }
  void end_untold() override {}
  std::unique_ptr<SecondDialler> make_dialler() override { return nullptr; }
};

}  // namespace spindle::test
