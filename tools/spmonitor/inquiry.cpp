#include "tools/spmonitor/inquiry.h"

#include <algorithm>
#include <thread>

#include "tools/spmonitor/rates.h"

namespace spmonitor {

namespace proto = spindle::admin;

namespace {

constexpr std::size_t kPage = 1'000;

std::uint32_t page_of(std::size_t left) { return static_cast<std::uint32_t>(std::min(left, kPage)); }

/// Appends the pages behind the first one, which `all` is.
Result<void> add_groups(AdminClient& client, proto::Request request, std::size_t limit, proto::GroupsReply& all) {
  while (all.truncated() && static_cast<std::size_t>(all.groups_size()) < limit) {
    request.mutable_groups()->set_after(all.last());
    request.mutable_groups()->set_limit(page_of(limit - static_cast<std::size_t>(all.groups_size())));
    const Result<proto::Reply> reply = client.ask(request);
    if (!reply) return tl::unexpected(reply.error());
    for (const proto::Group& group : reply->groups().groups()) *all.add_groups() = group;
    all.set_truncated(reply->groups().truncated() && reply->groups().groups_size() != 0);
    all.set_total(reply->groups().total());
    all.set_last(reply->groups().last());
  }
  return {};
}

Result<void> add_sessions(AdminClient& client, proto::Request request, std::size_t limit, proto::SessionsReply& all) {
  while (all.truncated() && static_cast<std::size_t>(all.sessions_size()) < limit) {
    request.mutable_sessions()->set_after(all.sessions(all.sessions_size() - 1).id());
    request.mutable_sessions()->set_limit(page_of(limit - static_cast<std::size_t>(all.sessions_size())));
    const Result<proto::Reply> reply = client.ask(request);
    if (!reply) return tl::unexpected(reply.error());
    for (const proto::Session& session : reply->sessions().sessions()) *all.add_sessions() = session;
    all.set_truncated(reply->sessions().truncated() && reply->sessions().sessions_size() != 0);
    all.set_total(reply->sessions().total());
  }
  return {};
}

}  // namespace

Result<proto::Reply> inquire(const Inquiry& inquiry) {
  Result<AdminClient> client = AdminClient::connect(inquiry.target, inquiry.timeout);
  if (!client) return tl::unexpected(client.error());
  proto::Request request = inquiry.request;
  if (request.has_groups()) request.mutable_groups()->set_limit(page_of(inquiry.limit));
  if (request.has_sessions()) request.mutable_sessions()->set_limit(page_of(inquiry.limit));
  // One reply holds them all: the order of another would be another one.
  if (request.has_flow()) request.mutable_flow()->set_limit(static_cast<std::uint32_t>(inquiry.limit));
  if (request.has_feeds()) request.mutable_feeds()->set_limit(static_cast<std::uint32_t>(inquiry.limit));
  Result<proto::Reply> reply = client->ask(request);
  if (!reply) return reply;

  Result<void> more;
  if (reply->has_groups()) more = add_groups(*client, request, inquiry.limit, *reply->mutable_groups());
  if (reply->has_sessions()) more = add_sessions(*client, request, inquiry.limit, *reply->mutable_sessions());
  if (!more) return tl::unexpected(more.error());

  if (reply->has_links() && inquiry.interval) {
    const auto first = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(*inquiry.interval);
    Result<proto::Reply> second = inquire({inquiry.target, inquiry.timeout, request, inquiry.limit, std::nullopt});
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - first;
    if (second) add_rates(reply->links(), passed.count(), *second->mutable_links());
    return second;
  }
  return reply;
}

}  // namespace spmonitor
