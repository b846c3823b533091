#include "daemon/admin/flow_report.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "daemon/admin/admin.pb.h"
#include "daemon/admin/page_room.h"
#include "daemon/admin/report.h"
#include "daemon/admission/admission.h"
#include "daemon/session/sessions.h"
#include "libclient/common/printable.h"

namespace spindled {

namespace proto = spindle::admin;

namespace {

/// Names of a flow's destinations that are shown.
constexpr std::size_t kNamesShown = 8;
/// Prices of either kind that are shown.
constexpr std::size_t kPricesShown = 1'000;

std::string_view to_string(BenefitKind benefit) {
  switch (benefit) {
    case BenefitKind::sending:
      return "sending";
    case BenefitKind::receiving:
      return "receiving";
    case BenefitKind::fair:
      return "fair";
  }
  return "unknown";
}

/// A flow among the others, before anything costly is asked of it.
struct Candidate {
  const Session* session = nullptr;
  const DestinationSet* to = nullptr;
  const Flow* flow = nullptr;
  double blocked_share = 0;
  std::size_t place = 0;  // among all flows, so that the order is the same each time

  /// Whether it stands before `other` in the list.
  bool operator<(const Candidate& other) const {
    if (flow->is_blocked() != other.flow->is_blocked()) return flow->is_blocked();
    if (blocked_share != other.blocked_share) return blocked_share > other.blocked_share;
    return place < other.place;
  }
};

/// The first `limit` of the list, in order. Keeps no more than that of them at any time: there may be a thousand flows
/// of each of a thousand clients.
std::vector<Candidate> most_blocked(Time now, const Sessions& sessions, std::size_t limit, std::size_t& total) {
  std::vector<Candidate> heap;  // the last of the list in front
  total = 0;
  sessions.table().for_each([&](const Session& session) {
    session.ingress().for_each_flow([&](const DestinationSet& to, const Flow& flow) {
      if (flow.packets() == 0 && !flow.is_blocked()) return;
      const Candidate candidate{&session, &to, &flow, flow.blocked_share(now), total++};
      if (heap.size() == limit) {
        if (!(candidate < heap.front())) return;
        std::pop_heap(heap.begin(), heap.end());
        heap.pop_back();
      }
      heap.push_back(candidate);
      std::push_heap(heap.begin(), heap.end());
    });
  });
  std::sort_heap(heap.begin(), heap.end());
  return heap;
}

void describe(Time now, const Candidate& candidate, proto::Flow& out) {
  const FlowSnapshot state = candidate.session->ingress().flow_state(now, *candidate.flow, *candidate.to);
  out.set_client(candidate.session->name());
  out.set_session(candidate.session->id());
  const std::vector<std::string>& names = candidate.to->names;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) out.add_to(spindle::printable(names[i]));
  out.set_to_count(static_cast<std::uint32_t>(names.size()));
  out.set_price(state.price);
  out.set_budget(state.budget);
  out.set_salary_period_seconds(to_seconds(state.salary_period));
  out.set_packets_per_second(state.rate);
  out.set_blocked(state.is_blocked);
  out.set_blocked_share(state.blocked_share);
  out.set_packets(state.packets);
  out.set_dollars(state.dollars);
  out.set_limited_by(spindle::printable(state.limited_by));
  out.set_benefit(std::string(to_string(state.benefit)));
}

void add_links(const AdminSubjects& subjects, proto::FlowReply& out) {
  for (const OwnPrices::LinkView& view : subjects.admission.own().links()) {
    if (!subjects.links.is_established(view.link)) continue;
    const LinkInfo info = subjects.links.info(view.link);
    proto::PricedLink& link = *out.add_links();
    link.set_peer(info.peer.name);
    link.set_queued_packets(view.packets);
    link.set_aim_packets(view.aim);
    link.set_price(view.dollars);
    link.set_packets_per_second(view.rate);
    link.set_queued_bytes(info.queued_bytes);
    link.set_bytes_out(info.bytes_out);
  }
}

/// The dearest first, as many as there is room for.
template <typename Price, typename Add>
void add_prices(std::vector<Price> prices, PageRoom& room, proto::FlowReply& out, Add add) {
  std::stable_sort(prices.begin(), prices.end(), [](const Price& a, const Price& b) { return a.dollars > b.dollars; });
  for (std::size_t i = 0; i < prices.size(); ++i) {
    if (i == kPricesShown || !room.take(add(prices[i]))) {
      out.set_prices_truncated(true);
      return;
    }
  }
}

void add_prices(const PriceBook& book, PageRoom& room, proto::FlowReply& out) {
  const View& view = book.view();
  std::vector<PriceBook::LinkPrice> told = book.link_prices();
  std::erase_if(told, [&](const PriceBook::LinkPrice& price) { return price.from == view.self; });
  add_prices(std::move(told), room, out, [&](const PriceBook::LinkPrice& price) {
    proto::ToldLinkPrice& added = *out.add_told_links();
    added.set_from(view.members[price.from].name);
    added.set_to(view.members[price.neighbour].name);
    added.set_price(price.dollars);
    return added.ByteSizeLong();
  });
  add_prices(book.client_prices(), room, out, [&](const PriceBook::ClientPrice& price) {
    proto::ClientPrice& added = *out.add_clients();
    added.set_name(spindle::printable(price.name));
    added.set_daemon(view.members[price.daemon].name);
    added.set_price(price.dollars);
    added.set_slowest(spindle::printable(price.slowest));
    return added.ByteSizeLong();
  });
}

}  // namespace

void report_flow(Time now, const AdmissionConfig& config, const AdminSubjects& subjects,
                 const proto::FlowRequest& request, proto::FlowReply& out) {
  out.set_enabled(subjects.admission.is_enabled());
  out.set_benefit(std::string(to_string(config.benefit)));
  out.set_salary(config.salary);
  PageRoom room(request.limit());
  add_links(subjects, out);
  room.take(out.ByteSizeLong());
  add_prices(subjects.admission.prices(), room, out);

  std::size_t total = 0;
  for (const Candidate& candidate : most_blocked(now, subjects.sessions, room.items(), total)) {
    if (room.full()) break;
    proto::Flow& added = *out.add_flows();
    describe(now, candidate, added);
    room.take_item(added.ByteSizeLong());
  }
  out.set_total(static_cast<std::uint32_t>(total));
  out.set_truncated(static_cast<std::size_t>(out.flows_size()) < total);
}

}  // namespace spindled
