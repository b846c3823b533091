// Large content from one client to the members of a group, with real daemons, sockets and files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "libclient/bulk/resume_state.h"
#include "spindle/bulk.h"
#include "tests/integration/clients.h"
#include "tests/integration/identities.h"
#include "tests/integration/needs.h"
#include "tests/support/sha256.h"

namespace spindle::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::size_t kFileBytes = 40'000'003;

/// Content that no two of are alike.
std::vector<std::uint8_t> random_bytes(std::size_t size, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes((size + 7) / 8 * 8);
  std::mt19937_64 random(seed);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + at, &word, 8);
  }
  bytes.resize(size);
  return bytes;
}

void write_bytes(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(file.flush());
}

std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes(std::filesystem::file_size(path));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

std::string make_file(const TemporaryDirectory& directory, const std::string& name, std::size_t size = kFileBytes) {
  write_bytes(directory.path(name), random_bytes(size, size));
  return directory.path(name);
}

std::string make_directory(const TemporaryDirectory& directory, const std::string& name) {
  std::filesystem::create_directory(directory.path(name));
  return directory.path(name);
}

/// A program that offers or receives content.
struct BulkProgram {
  BulkProgram(Daemon& daemon, const std::string& name) : BulkProgram(options_for(daemon, name)) {}
  explicit BulkProgram(const ConnectOptions& options)
      : connection(Connection::connect(options).value()), bulk(Bulk::open(connection).value()) {}

  static ConnectOptions options_for(Daemon& daemon, const std::string& name) {
    ConnectOptions options;
    options.address = "unix:" + daemon.socket();
    options.name = name;
    options.connect_timeout = kPatience;
    options.reconnect_timeout = {};
    options.bulk = true;
    return options;
  }

  void join(const std::string& group) { ASSERT_TRUE(connection.join(group, kPatience)); }
  /// The next event of that kind; others before it are passed over.
  template <typename T>
  T next() {
    for (;;) {
      std::error_code error;
      std::optional<Event> event = connection.receive(kProgramPatience, error);
      if (!event) throw std::system_error(error, "no event for " + std::string(connection.private_name()));
      if (auto* wanted = event->get_if<T>()) return std::move(*wanted);
    }
  }

  Connection connection;
  Bulk bulk;
};

ProcessOptions spuser_options(Daemon& daemon, const std::vector<std::string>& arguments) {
  ProcessOptions options;
  options.arguments = {"--connect", daemon.socket()};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  return options;
}

/// Sends a file to two receivers, each a program of its own.
void expect_files_arrive(Daemon& source, Daemon& first, Daemon& second, const std::string& rate = "1G") {
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "disk.img");
  const std::vector<std::string> places{make_directory(directory, "a"), make_directory(directory, "b")};
  Process a(SPUSER_PATH, spuser_options(first, {"receive-file", "images", places[0], "--count", "1"}));
  Process b(SPUSER_PATH, spuser_options(second, {"receive-file", "images", places[1], "--count", "1"}));
  const Finished sender =
      run(SPUSER_PATH, spuser_options(source, {"send-file", "images", sent, "--wait-members", "2", "--rate", rate}),
          kProgramPatience);
  EXPECT_EQ(sender.code, 0) << sender.error;
  EXPECT_THAT(sender.out, ContainsRegex("received by 2( .[12] ha(s|ve) left since.)?, failed 0, refused 0"));
  for (Process* each : {&a, &b}) EXPECT_EQ(each->wait(kProgramPatience), 0) << each->transcript();
  EXPECT_EQ(a.output(Process::Stream::out), places[0] + "/disk.img\n");
  const std::vector<std::uint8_t> content = read_bytes(sent);
  for (const std::string& place : places) {
    EXPECT_TRUE(read_bytes(place + "/disk.img") == content) << place;
    // Nothing is left beside it.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 1) << place;
  }
}

TEST(BulkFiles, ArriveAtTwoReceiversOfOneDaemon) {
  Daemon daemon({});
  expect_files_arrive(daemon, daemon, daemon);
}

TEST(BulkFiles, ArriveAlongALineOfDaemons) {
  LineOfThree line;
  wait_for_one_view(line.all());
  expect_files_arrive(line.alpha, line.beta, line.gamma);
}

/// Three daemons, each a neighbour of both others, with the mesh.
struct Triangle {
  static DaemonOptions options(const std::string& name, std::vector<std::string> neighbours) {
    DaemonOptions options;
    options.name = name;
    options.neighbours = std::move(neighbours);
    options.configuration = "[bulk]\nmesh = true\n";
    return options;
  }
  Daemon alpha{options("alpha", {})};
  Daemon beta{options("beta", {alpha.link_address()})};
  Daemon gamma{options("gamma", {alpha.link_address(), beta.link_address()})};
};

TEST(BulkFiles, ArriveOverAMesh) {
  Triangle mesh;
  wait_for_one_view({&mesh.alpha, &mesh.beta, &mesh.gamma});
  expect_files_arrive(mesh.alpha, mesh.beta, mesh.gamma);
  EXPECT_GT(mesh.beta.count("bulk_symbols_of_peers") + mesh.gamma.count("bulk_symbols_of_peers"), 0u);
}

/// Two daemons with links to a third one only, which may dial each other.
struct Star {
  /// Where nobody else listens: an address of loopback that is this process's own, with the port of links.
  static std::string address(int last) {
    const int process = ::getpid();
    return "127." + std::to_string(64 + (process >> 8) % 128) + "." + std::to_string(process & 255) + "." +
           std::to_string(last) + ":4804";
  }
  static DaemonOptions leaf(const std::string& name, const Daemon& hub, int last) {
    DaemonOptions options;
    options.name = name;
    options.neighbours = {hub.link_address()};
    options.link_address = address(last);
    options.configuration = "[bulk]\nmesh = true\naddress = \"" + options.link_address + "\"\n";
    return options;
  }
  Daemon hub{Triangle::options("hub", {})};
  Daemon beta{leaf("beta", hub, 1)};
  Daemon gamma{leaf("gamma", hub, 2)};
};

TEST(BulkFiles, ArriveAtDaemonsThatDialEachOther) {
  Star star;
  wait_for_one_view({&star.hub, &star.beta, &star.gamma});
  expect_files_arrive(star.hub, star.beta, star.gamma, "20M");
  EXPECT_GT(star.beta.count("bulk_symbols_of_peers") + star.gamma.count("bulk_symbols_of_peers"), 0u);
  EXPECT_EQ(star.hub.count("bulk_symbols_of_peers"), 0u);
}

/// Its address is wrong: nobody answers there. What it lacks comes along the tree.
TEST(BulkFiles, ArriveWhereTheOtherCannotBeDialled) {
  Daemon hub(Triangle::options("hub", {}));
  DaemonOptions silent = Star::leaf("beta", hub, 1);
  silent.configuration = "[bulk]\nmesh = true\naddress = \"" + Star::address(9) + "\"\n";
  Daemon beta(silent);
  Daemon gamma(Triangle::options("gamma", {hub.link_address()}));
  wait_for_one_view({&hub, &beta, &gamma});
  expect_files_arrive(hub, beta, gamma, "20M");
  EXPECT_EQ(beta.count("bulk_symbols_of_peers") + gamma.count("bulk_symbols_of_peers"), 0u);
}

TEST(BulkFiles, TheSenderStaysForWhoWentBeforeItHadAll) {
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "disk.img");
  const std::string place = make_directory(directory, "place");
  BulkProgram quick(daemon, "quick"), slow(daemon, "slow");
  quick.join("images");
  slow.join("images");
  Process sender(SPUSER_PATH,
                 spuser_options(daemon, {"send-file", "images", sent, "--wait-members", "2", "--rate", "8M"}));
  ASSERT_FALSE(slow.bulk.accept(slow.next<BulkOffered>().channel, BulkSink::directory(place)));
  slow.next<BulkProgress>();
  ASSERT_FALSE(quick.bulk.refuse(quick.next<BulkOffered>().channel));
  ASSERT_FALSE(slow.connection.leave("images"));
  sender.wait_for_line("received by 0, failed 0, refused 1, 1 went before it had all");
  sender.wait_for_line("it stays");
  EXPECT_EQ(slow.next<BulkEnded>().cause, BulkEnded::Cause::left);
  slow.join("images");
  const auto again = slow.next<BulkOffered>();
  EXPECT_TRUE(again.late);
  ASSERT_FALSE(slow.bulk.accept(again.channel, BulkSink::directory(place)));
  const auto received = slow.next<BulkReceived>();
  EXPECT_FALSE(received.error) << received.text;
  EXPECT_EQ(sender.wait(kProgramPatience), 0) << sender.transcript();
  EXPECT_THAT(sender.output(Process::Stream::out), HasSubstr("received by 1, failed 0, refused 1\n"));
  EXPECT_THAT(sender.output(Process::Stream::error), HasSubstr("back and receiving: 1 of 1"));
  EXPECT_TRUE(read_bytes(place + "/disk.img") == read_bytes(sent));
}

TEST(BulkFiles, TheSenderCountsWhoLeftWithAllOfIt) {
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "disk.img", 1'000'000);
  BulkProgram quick(daemon, "quick"), slow(daemon, "slow");
  quick.join("images");
  slow.join("images");
  Process sender(SPUSER_PATH, spuser_options(daemon, {"send-file", "images", sent, "--wait-members", "2"}));
  ASSERT_FALSE(quick.bulk.accept(quick.next<BulkOffered>().channel, BulkSink::memory()));
  EXPECT_FALSE(quick.next<BulkReceived>().error);
  ASSERT_FALSE(quick.connection.leave("images"));
  EXPECT_EQ(quick.next<BulkEnded>().cause, BulkEnded::Cause::left);
  ASSERT_FALSE(slow.bulk.refuse(slow.next<BulkOffered>().channel));
  EXPECT_EQ(sender.wait(kProgramPatience), 0) << sender.transcript();
  EXPECT_THAT(sender.output(Process::Stream::out), HasSubstr("received by 1 (1 has left since), failed 0, refused 1"));
}

TEST(BulkFiles, TheSenderSaysWhoFailedAlsoWhereNobodyReadsItsOutput) {
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "disk.img", 1'000);
  const std::string place = make_directory(directory, "place");
  std::filesystem::copy(sent, place);
  Process receiver(SPUSER_PATH, spuser_options(daemon, {"receive-file", "images", place, "--count", "1"}));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  ProcessOptions options = spuser_options(daemon, {"send-file", "images", sent, "--wait-members", "1"});
  options.output = ends[1];
  const Finished sender = run(SPUSER_PATH, options);
  ::close(ends[1]);
  EXPECT_EQ(sender.code, 3) << sender.error;
  EXPECT_THAT(sender.error, HasSubstr("1 of the members did not receive it"));
  EXPECT_EQ(receiver.wait(), 3) << receiver.transcript();
}

/// The source at `first`, members that receive at `first` and `last`, and one that refuses at `between`.
void expect_bytes_arrive(Daemon& first, Daemon& between, Daemon& last) {
  BulkProgram source(first, "source"), near(first, "near"), far(last, "far"), not_me(between, "not");
  for (BulkProgram* each : {&near, &far, &not_me}) each->join("g");
  const std::string near_name(near.connection.private_name()), far_name(far.connection.private_name()),
      not_name(not_me.connection.private_name()), source_name(source.connection.private_name());
  for (BulkProgram* each : {&near, &far, &not_me}) {
    wait_for_members(each->connection, "g", {near_name, far_name, not_name});
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}, std::size_t{9'000'000}}) {
    SCOPED_TRACE(size);
    const std::vector<std::uint8_t> content = random_bytes(size, 7);
    const ChannelId channel = source.bulk.offer("g", BulkSource::bytes(content, "numbers")).value();
    for (BulkProgram* each : {&near, &far, &not_me}) {
      const auto offered = each->next<BulkOffered>();
      EXPECT_EQ(offered.channel, channel);
      EXPECT_EQ(offered.group, "g");
      EXPECT_EQ(offered.source, source_name);
      EXPECT_EQ(offered.name, "numbers");
      EXPECT_EQ(offered.size, size);
      EXPECT_FALSE(offered.late);
    }
    EXPECT_FALSE(not_me.bulk.refuse(channel));
    EXPECT_EQ(not_me.bulk.accept(channel, BulkSink::memory()), Errc::bad_argument);
    for (BulkProgram* each : {&near, &far}) EXPECT_FALSE(each->bulk.accept(channel, BulkSink::memory()));
    for (BulkProgram* each : {&near, &far}) {
      const auto received = each->next<BulkReceived>();
      EXPECT_FALSE(received.error) << received.text;
      EXPECT_TRUE(received.bytes == content) << size;
    }
    for (BulkProgram* each : {&source, &near, &far, &not_me}) {
      const auto complete = each->next<BulkComplete>();
      EXPECT_EQ(complete.channel, channel);
      EXPECT_THAT(complete.done, UnorderedElementsAre(near_name, far_name));
      EXPECT_THAT(complete.refused, UnorderedElementsAre(not_name));
      EXPECT_THAT(complete.failed, SizeIs(0));
    }
  }
}

TEST(Bulk, BytesAndEmptyContentsArriveAndAllSeeTheSameEnd) {
  Daemon daemon({});
  expect_bytes_arrive(daemon, daemon, daemon);
}

TEST(Bulk, BytesArriveAlongALineOfDaemons) {
  LineOfThree line;
  wait_for_one_view(line.all());
  expect_bytes_arrive(line.alpha, line.beta, line.gamma);
}

TEST(Bulk, GoesByTcpAndMemoryHasABound) {
  Daemon daemon({});
  ConnectOptions options = BulkProgram::options_for(daemon, "source");
  options.address = "tcp:" + daemon.client_address();
  BulkProgram source(options), receiver(daemon, "receiver");
  receiver.join("g");
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "sent", 9'000'000);
  const ChannelId channel = source.bulk.offer("g", BulkSource::file(sent)).value();
  receiver.next<BulkOffered>();
  EXPECT_EQ(receiver.bulk.accept(channel, BulkSink::memory(1'000)), Errc::limit_exceeded);
  EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::file(directory.path("got"))));
  EXPECT_EQ(receiver.next<BulkReceived>().path, directory.path("got"));
  EXPECT_TRUE(read_bytes(directory.path("got")) == read_bytes(sent));
}

TEST(Bulk, NamesOfOthersLeadNowhereElse) {
  Daemon daemon({});
  BulkProgram source(daemon, "source"), receiver(daemon, "receiver");
  receiver.join("g");
  const TemporaryDirectory directory;
  const std::string place = make_directory(directory, "place");
  for (const char* name : {"", ".", "..", "../evil", "/tmp/evil", "a/b", "a\nb", "x.spindle-part", "x.spindle-state"}) {
    const ChannelId channel = source.bulk.offer("g", BulkSource::bytes({1, 2, 3}, name)).value();
    receiver.next<BulkOffered>();
    EXPECT_EQ(receiver.bulk.accept(channel, BulkSink::directory(place)), Errc::bad_content_name) << name;
    EXPECT_FALSE(receiver.bulk.refuse(channel));
    EXPECT_THAT(source.next<BulkComplete>().refused, SizeIs(1));
  }
  // A link in the way is not followed, whether it is the name's or that of what is not whole yet.
  ASSERT_EQ(::symlink(directory.path("outside").c_str(), (place + "/name.spindle-part").c_str()), 0);
  const ChannelId channel = source.bulk.offer("g", BulkSource::bytes({1, 2, 3}, "name")).value();
  receiver.next<BulkOffered>();
  EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::directory(place)));
  EXPECT_EQ(receiver.next<BulkReceived>().error, Errc::file_failed);
  EXPECT_FALSE(std::filesystem::exists(directory.path("outside")));
  EXPECT_THAT(source.next<BulkComplete>().failed, SizeIs(1));
}

TEST(Bulk, AFileThatIsThereIsReplacedOnlyWhereThatIsSaid) {
  Daemon daemon({});
  BulkProgram source(daemon, "source"), receiver(daemon, "receiver");
  receiver.join("g");
  const TemporaryDirectory directory;
  write_file(directory.path("name"), "before");
  for (const bool replace : {false, true}) {
    const ChannelId channel = source.bulk.offer("g", BulkSource::bytes({'n', 'e', 'w'}, "name")).value();
    receiver.next<BulkOffered>();
    EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::file(directory.path("name")), {.replace = replace}));
    const auto received = receiver.next<BulkReceived>();
    EXPECT_EQ(received.error, replace ? std::error_code() : Errc::file_exists) << received.text;
    EXPECT_EQ(read_bytes(directory.path("name")).size(), replace ? 3u : 6u);
  }
}

TEST(Bulk, ACancelledContentLeavesNothingBehind) {
  Daemon daemon({});
  BulkProgram source(daemon, "source"), receiver(daemon, "receiver");
  receiver.join("g");
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "sent");
  const std::string place = make_directory(directory, "place");
  const ChannelId channel = source.bulk.offer("g", BulkSource::file(sent), {.bytes_per_second = 4'000'000}).value();
  receiver.next<BulkOffered>();
  EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::directory(place)));
  receiver.next<BulkProgress>();
  EXPECT_EQ(receiver.bulk.cancel(channel), Errc::bad_argument);
  EXPECT_FALSE(source.bulk.cancel(channel));
  EXPECT_EQ(receiver.next<BulkEnded>().cause, BulkEnded::Cause::cancelled);
  EXPECT_EQ(source.next<BulkEnded>().cause, BulkEnded::Cause::cancelled);
  wait_until("the part to go", [&] { return std::filesystem::is_empty(place); });
}

TEST(Bulk, ADirectoryWithoutRoomSaysSo) {
  Daemon daemon({});
  BulkProgram source(daemon, "source"), receiver(daemon, "receiver");
  receiver.join("g");
  const TemporaryDirectory directory;
  const std::string place = make_directory(directory, "place");
  struct statvfs room {};
  ASSERT_EQ(::statvfs(place.c_str(), &room), 0);
  // A file without blocks, which is larger than what is left there.
  const std::string sent = directory.path("sent");
  write_file(sent, "");
  const std::uintmax_t size = std::uintmax_t{room.f_bavail} * room.f_frsize + (std::uintmax_t{1} << 30);
  std::error_code too_large;
  std::filesystem::resize_file(sent, size, too_large);
  if (too_large) GTEST_SKIP() << "no file of " << size << " bytes can be made here";
  const ChannelId channel = source.bulk.offer("g", BulkSource::file(sent)).value();
  receiver.next<BulkOffered>();
  EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::directory(place)));
  const auto received = receiver.next<BulkReceived>();
  EXPECT_EQ(received.error, Errc::no_space) << received.text;
  EXPECT_THAT(received.text, HasSubstr(place));
  EXPECT_TRUE(std::filesystem::is_empty(place));
  EXPECT_FALSE(source.bulk.cancel(channel));
}

/// Files of many sizes in directories of several depths, an empty one among them.
std::string make_tree(const TemporaryDirectory& directory, const std::string& name) {
  namespace fs = std::filesystem;
  const std::string root = directory.path(name);
  fs::create_directories(root + "/some/deep/directory");
  fs::create_directory(root + "/nothing in it");
  std::mt19937_64 random(11);
  for (std::size_t i = 0; i < 1'000; ++i) {
    const std::string inside = i % 3 == 0 ? "/" : i % 3 == 1 ? "/some/" : "/some/deep/directory/";
    write_bytes(root + inside + "file " + std::to_string(i) + " \xc3\xa4", random_bytes(random() % 3'000, i));
  }
  write_bytes(root + "/some/large", random_bytes(kFileBytes, 3));
  write_file(root + "/run", "#!/bin/sh\n");
  fs::permissions(root + "/run", fs::perms::owner_all);
  return root;
}

void expect_same_trees(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  std::size_t entries = 0;
  for (const fs::directory_entry& each : fs::recursive_directory_iterator(one)) {
    ++entries;
    const fs::path there = other / fs::relative(each.path(), one);
    ASSERT_EQ(each.status().type(), fs::status(there).type()) << there;
    if (!each.is_regular_file()) continue;
    EXPECT_TRUE(read_bytes(each.path()) == read_bytes(there)) << there;
  }
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(other), {}), static_cast<std::ptrdiff_t>(entries));
}

TEST(BulkFiles, DirectoriesArriveWithAllThatIsInThem) {
  LineOfThree line;
  wait_for_one_view(line.all());
  const TemporaryDirectory directory;
  const std::string sent = make_tree(directory, "tree");
  std::filesystem::create_symlink("/etc/passwd", sent + "/link");
  const std::vector<std::string> places{make_directory(directory, "a"), make_directory(directory, "b")};
  Process a(SPUSER_PATH, spuser_options(line.beta, {"receive-file", "images", places[0], "--count", "1"}));
  Process b(SPUSER_PATH, spuser_options(line.gamma, {"receive-file", "images", places[1], "--count", "1"}));
  // The receivers make sure of the file system, which may hold what others have written.
  const Finished sender =
      run(SPUSER_PATH, spuser_options(line.alpha, {"send-file", "images", sent + "/", "--wait-members", "2"}),
          kProgramPatience);
  EXPECT_EQ(sender.code, 0) << sender.error;
  EXPECT_THAT(sender.out, ContainsRegex("received by 2( .[12] ha(s|ve) left since.)?, failed 0, refused 0"));
  EXPECT_THAT(sender.error, HasSubstr("\"link\" is no file or directory"));
  for (Process* each : {&a, &b}) EXPECT_EQ(each->wait(kProgramPatience), 0) << each->transcript();
  EXPECT_EQ(a.output(Process::Stream::out), places[0] + "/tree\n");
  std::filesystem::remove(sent + "/link");
  for (const std::string& place : places) {
    expect_same_trees(sent, place + "/tree");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 1) << place;
  }
}

/// Offers the content, which is called `name`, to a program that is killed once it has a part of it. What is sent
/// behind that is next to nothing: what another one has soon is what was there.
ChannelId offer_to_one_that_is_killed(Daemon& daemon, BulkProgram& source, const BulkSource& content,
                                      const std::string& place, const std::string& name) {
  source.join("images");
  Process killed(SPUSER_PATH, spuser_options(daemon, {"--name", "first", "receive-file", "images", place}));
  wait_for_members(source.connection, "images", {"#source#alpha", "#first#alpha"});
  const ChannelId channel = source.bulk.offer("images", content, {.bytes_per_second = 8'000'000}).value();
  wait_until("a state", [&] { return std::filesystem::exists(place + "/" + name + ".spindle-state"); });
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.wait(), -SIGKILL);
  EXPECT_FALSE(source.bulk.set_rate(channel, 1'000));
  return channel;
}

TEST(BulkFiles, ADirectoryIsGoneOnWithByAReceiverThatWasKilled) {
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string sent = make_tree(directory, "tree");
  const std::string place = make_directory(directory, "place");
  BulkProgram source(daemon, "source");
  const ChannelId channel = offer_to_one_that_is_killed(daemon, source, BulkSource::directory(sent), place, "tree");
  BulkProgram second(daemon, "second");
  second.join("images");
  EXPECT_EQ(second.next<BulkOffered>().kind, ContentKind::directory);
  EXPECT_EQ(second.bulk.accept(channel, BulkSink::memory()), Errc::bad_argument);
  EXPECT_FALSE(second.bulk.accept(channel, BulkSink::file(place + "/tree")));
  EXPECT_GE(second.next<BulkProgress>().bytes, 8u << 20);
  EXPECT_FALSE(source.bulk.set_rate(channel, 0));
  const auto received = second.next<BulkReceived>();
  EXPECT_FALSE(received.error) << received.text;
  EXPECT_EQ(received.path, place + "/tree");
  expect_same_trees(sent, place + "/tree");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 1);
}

/// Gives the content in pieces of any size, and now and then has nothing.
BulkSource::Read reads(std::shared_ptr<const std::vector<std::uint8_t>> content) {
  return [content, at = std::size_t{0},
          calls = std::mt19937(5)](std::span<std::uint8_t> to) mutable -> std::optional<std::size_t> {
    if (calls() % 8 == 0) return std::nullopt;
    const std::size_t bytes = std::min({to.size(), content->size() - at, std::size_t{calls() % 3'000'000 + 1}});
    std::copy_n(content->begin() + static_cast<std::ptrdiff_t>(at), bytes, to.begin());
    at += bytes;
    return bytes;
  };
}

TEST(Bulk, StreamsArriveInFilesAndAsStreams) {
  Daemon daemon({});
  BulkProgram source(daemon, "source"), to_file(daemon, "file"), to_stream(daemon, "stream");
  to_file.join("g");
  to_stream.join("g");
  const TemporaryDirectory directory;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{8} << 20, std::size_t{150'000'001}}) {
    for (const bool spools : {false, true}) {
      SCOPED_TRACE(std::to_string(size) + (spools ? " with a spool" : ""));
      const auto content = std::make_shared<const std::vector<std::uint8_t>>(random_bytes(size, size));
      const std::string spool = spools ? directory.path("spool") : std::string();
      const ChannelId channel = source.bulk.offer("g", BulkSource::stream(reads(content), "flow", spool)).value();
      EXPECT_FALSE(std::filesystem::exists(directory.path("spool")));
      for (BulkProgram* each : {&to_file, &to_stream}) EXPECT_FALSE(each->next<BulkOffered>().size.has_value());
      std::vector<std::uint8_t> got;
      // A stream that is shorter may be sealed by now.
      if (size > (std::size_t{100} << 20)) {
        EXPECT_EQ(to_file.bulk.accept(channel, BulkSink::memory()), Errc::limit_exceeded);
      }
      EXPECT_FALSE(to_file.bulk.accept(channel, BulkSink::file(directory.path("flow")), {.replace = true}));
      EXPECT_FALSE(to_stream.bulk.accept(channel, BulkSink::stream([&got](std::span<const std::uint8_t> block) {
                                           got.insert(got.end(), block.begin(), block.end());
                                           return true;
                                         })));
      for (BulkProgram* each : {&to_file, &to_stream}) {
        const auto received = each->next<BulkReceived>();
        EXPECT_FALSE(received.error) << received.text;
      }
      EXPECT_TRUE(read_bytes(directory.path("flow")) == *content);
      EXPECT_TRUE(got == *content);
      EXPECT_THAT(source.next<BulkComplete>().done, SizeIs(2));
    }
  }
}

TEST(Bulk, StreamsWhoseFunctionsFailSaySo) {
  Daemon daemon({});
  BulkProgram source(daemon, "source"), receiver(daemon, "receiver");
  receiver.join("g");
  const auto nothing = std::make_shared<const std::vector<std::uint8_t>>(random_bytes(20'000'000, 1));
  const ChannelId refused = source.bulk.offer("g", BulkSource::stream(reads(nothing), "flow")).value();
  receiver.next<BulkOffered>();
  EXPECT_FALSE(receiver.bulk.accept(refused, BulkSink::stream([](std::span<const std::uint8_t>) { return false; })));
  EXPECT_EQ(receiver.next<BulkReceived>().error, Errc::file_failed);
  EXPECT_FALSE(source.bulk.cancel(refused));
  source.next<BulkEnded>();
  static_cast<void>(source.bulk.offer("g", BulkSource::stream(
                                               [](std::span<std::uint8_t>) -> std::optional<std::size_t> {
                                                 throw std::runtime_error("the pump is out of order");
                                               },
                                               "flow")));
  const auto ended = source.next<BulkEnded>();
  EXPECT_EQ(ended.error, Errc::file_failed);
  EXPECT_EQ(ended.text, "the pump is out of order");
}

TEST(BulkFiles, GoFromStandardInputToStandardOutput) {
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "sent");
  const int output = ::open(directory.path("got").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int input = ::open(sent.c_str(), O_RDONLY | O_CLOEXEC);
  ProcessOptions options = spuser_options(daemon, {"receive-file", "images", "-"});
  options.output = output;
  Process receiver(SPUSER_PATH, options);
  options = spuser_options(daemon, {"send-file", "images", "-", "--wait-members", "1"});
  options.input = input;
  const Finished sender = run(SPUSER_PATH, options, kProgramPatience);
  EXPECT_EQ(sender.code, 0) << sender.error;
  EXPECT_EQ(receiver.wait(kProgramPatience), 0) << receiver.transcript();
  EXPECT_TRUE(read_bytes(directory.path("got")) == read_bytes(sent));
  ::close(input);
  ::close(output);
}

TEST(BulkFiles, NothingFollowsOnStandardOutputWhatHasEndedInTheMiddle) {
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string got = directory.path("got");
  const int output = ::open(got.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::vector<std::uint8_t> content = random_bytes(std::size_t{16} << 20, 1);
  std::size_t given = 0;
  ProcessOptions options = spuser_options(daemon, {"--name", "receiver", "receive-file", "images", "-"});
  options.output = output;
  Process receiver(SPUSER_PATH, options);
  BulkProgram source(daemon, "source");
  source.join("images");
  wait_for_members(source.connection, "images", {"#source#alpha", "#receiver#alpha"});
  const auto read = [&](std::span<std::uint8_t> to) -> std::optional<std::size_t> {
    if (given == content.size() && std::filesystem::file_size(got) > 0) throw std::runtime_error("the pump is broken");
    const std::size_t bytes = std::min(to.size(), content.size() - given);
    if (bytes == 0) return std::nullopt;
    std::memcpy(to.data(), content.data() + given, bytes);
    given += bytes;
    return bytes;
  };
  ASSERT_TRUE(source.bulk.offer("images", BulkSource::stream(read, "flow")));
  EXPECT_EQ(source.next<BulkEnded>().text, "the pump is broken");
  ASSERT_TRUE(source.bulk.offer("images", BulkSource::bytes(random_bytes(100'000, 2)).named("other")));
  EXPECT_EQ(receiver.wait(kProgramPatience), 3) << receiver.transcript();
  const std::vector<std::uint8_t> there = read_bytes(got);
  ASSERT_LE(there.size(), content.size());
  EXPECT_TRUE(std::equal(there.begin(), there.end(), content.begin()));
  ::close(output);
}

/// Empty: a program can be given a file system of its own here.
std::string why_no_mounts() {
  ProcessOptions options;
  options.arguments = {"--mount", "/bin/sh", "-c", "mount -t tmpfs none /mnt"};
  return run("/usr/bin/unshare", options).code == 0 ? "" : "no file system can be mounted here, which takes root";
}

TEST(BulkFiles, WhoHasNoRoomAnyMoreWaitsForIt) {
  SPINDLE_TEST_NEEDS(why_no_mounts());
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string place = make_directory(directory, "place");
  BulkProgram source(daemon, "source");
  source.join("images");
  ProcessOptions options;
  // Of a stream nobody knows from the beginning how much room it takes.
  options.arguments = {"--mount", "/bin/sh", "-c",
                       "mount -t tmpfs -o size=48m none " + place + " && head -c 30000000 /dev/zero > " + place +
                           "/filler && exec " + SPUSER_PATH + " --connect " + daemon.socket() +
                           " --name receiver receive-file images " + place + " --count 1"};
  options.environment = {"PATH=/usr/bin:/bin"};
  Process receiver("/usr/bin/unshare", options);
  wait_for_members(source.connection, "images", {"#source#alpha", "#receiver#alpha"});
  const std::string seen = "/proc/" + std::to_string(receiver.id()) + "/root" + place;
  const auto content = std::make_shared<const std::vector<std::uint8_t>>(random_bytes(kFileBytes, 1));
  static_cast<void>(source.bulk.offer("images", BulkSource::stream(reads(content), "flow")).value());
  wait_until("the end of room", [&] {
    struct statvfs room {};
    return ::statvfs(seen.c_str(), &room) == 0 && room.f_bavail == 0;
  });
  EXPECT_TRUE(std::filesystem::exists(seen + "/flow.spindle-part"));
  std::filesystem::remove(seen + "/filler");
  const auto complete = source.next<BulkComplete>();
  EXPECT_THAT(complete.done, SizeIs(1));
  EXPECT_THAT(complete.failed, SizeIs(0));
  EXPECT_EQ(receiver.wait(kProgramPatience), 0) << receiver.transcript();
}

TEST(Bulk, GoesByTls) {
  Identities identities;
  DaemonOptions daemon_options = identities.daemon("alpha");
  daemon_options.client_address = "tls:127.0.0.1:0";
  Daemon daemon(daemon_options);
  ConnectOptions options = BulkProgram::options_for(daemon, "source");
  options.address = daemon.client_address();
  options.tls_bundle = identities.bundle("client/source");
  BulkProgram source(options);
  options.name = "receiver";
  options.tls_bundle = identities.bundle("client/receiver");
  BulkProgram receiver(options);
  receiver.join("g");
  const std::vector<std::uint8_t> content = random_bytes(kFileBytes, 1);
  const ChannelId channel = source.bulk.offer("g", BulkSource::bytes(content)).value();
  receiver.next<BulkOffered>();
  EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::memory()));
  EXPECT_TRUE(receiver.next<BulkReceived>().bytes == content);
  EXPECT_THAT(source.next<BulkComplete>().done, SizeIs(1));
}

TEST(Bulk, GoesOnWhereTheDaemonOfAReceiverIsKilledAndStarted) {
  LineOfThree line;
  wait_for_one_view(line.all());
  BulkProgram source(line.alpha, "source");
  ConnectOptions options = BulkProgram::options_for(line.gamma, "receiver");
  options.reconnect_timeout = kPatience;
  BulkProgram receiver(options);
  receiver.join("g");
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "sent");
  const ChannelId channel = source.bulk.offer("g", BulkSource::file(sent), {.bytes_per_second = 10'000'000}).value();
  receiver.next<BulkOffered>();
  EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::file(directory.path("got"))));
  receiver.next<BulkProgress>();
  line.gamma.kill();
  line.gamma.start();
  EXPECT_FALSE(source.bulk.set_rate(channel, 0));
  const auto received = receiver.next<BulkReceived>();
  EXPECT_FALSE(received.error) << received.text;
  EXPECT_TRUE(read_bytes(directory.path("got")) == read_bytes(sent));
}

TEST(Bulk, CanBeDestroyedInTheMiddle) {
  Daemon daemon({});
  BulkProgram source(daemon, "source"), receiver(daemon, "receiver");
  receiver.join("g");
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "sent");
  for (int i = 0; i < 3; ++i) {
    const ChannelId channel = source.bulk.offer("g", BulkSource::file(sent)).value();
    receiver.next<BulkOffered>();
    EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::file(directory.path("got")), {.replace = true}));
    receiver.next<BulkProgress>();
    receiver.bulk = {};
    source.bulk = {};
    EXPECT_EQ(source.bulk.cancel(channel), Errc::not_connected);
    source.bulk = Bulk::open(source.connection).value();
    receiver.bulk = Bulk::open(receiver.connection).value();
  }
  // What was there is gone on with.
  const ChannelId channel = source.bulk.offer("g", BulkSource::file(sent)).value();
  for (auto offered = receiver.next<BulkOffered>(); offered.channel != channel;) offered = receiver.next<BulkOffered>();
  EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::file(directory.path("got")), {.replace = true}));
  EXPECT_FALSE(receiver.next<BulkReceived>().error);
  EXPECT_TRUE(read_bytes(directory.path("got")) == read_bytes(sent));
}

TEST(Bulk, AFileThatChangesWhileItIsSentEndsTheChannel) {
  Daemon daemon({});
  BulkProgram source(daemon, "source"), receiver(daemon, "receiver");
  receiver.join("g");
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "sent");
  const std::string place = make_directory(directory, "place");
  const ChannelId channel = source.bulk.offer("g", BulkSource::file(sent), {.bytes_per_second = 4'000'000}).value();
  receiver.next<BulkOffered>();
  EXPECT_FALSE(receiver.bulk.accept(channel, BulkSink::directory(place)));
  receiver.next<BulkProgress>();
  std::filesystem::resize_file(sent, 1'000);
  EXPECT_FALSE(source.bulk.set_rate(channel, 0));
  const auto ended = source.next<BulkEnded>();
  EXPECT_EQ(ended.error, Errc::file_failed);
  EXPECT_THAT(ended.text, HasSubstr("changed"));
  EXPECT_EQ(receiver.next<BulkEnded>().cause, BulkEnded::Cause::cancelled);
}

TEST(BulkFiles, AReceiverThatWasKilledGoesOnWithWhatItHas) {
  Daemon daemon({});
  const TemporaryDirectory directory;
  const std::string sent = make_file(directory, "disk.img");
  const std::string place = make_directory(directory, "place");
  BulkProgram source(daemon, "source");
  const ChannelId channel = offer_to_one_that_is_killed(daemon, source, BulkSource::file(sent), place, "disk.img");
  EXPECT_EQ(std::filesystem::file_size(place + "/disk.img.spindle-part"), kFileBytes);

  BulkProgram second(daemon, "second");
  second.join("images");
  const auto offered = second.next<BulkOffered>();
  EXPECT_EQ(offered.channel, channel);
  EXPECT_TRUE(offered.late);
  EXPECT_FALSE(second.bulk.accept(channel, BulkSink::directory(place)));
  EXPECT_GE(second.next<BulkProgress>().bytes, 8u << 20);
  EXPECT_FALSE(source.bulk.set_rate(channel, 0));
  const auto received = second.next<BulkReceived>();
  EXPECT_FALSE(received.error) << received.text;
  EXPECT_TRUE(read_bytes(place + "/disk.img") == read_bytes(sent));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 1);
}

/// What a receiver has in a directory that was stopped before it had these blocks of a file of zeros.
void put_part_of_zeros(const std::string& place, const std::string& name, std::uint64_t size,
                       const std::vector<std::uint32_t>& lacking) {
  bulk::ResumeState state;
  state.layout = *bulk::ContentLayout::of(size);
  const std::uint32_t blocks = state.layout.blocks();
  state.written = bulk::BlockSet::of_first(blocks);
  for (const std::uint32_t block : lacking) state.written.remove(block);
  const bulk::BlockHash hash = Sha256().hash(std::vector<std::uint8_t>(state.layout.block_bytes));
  for (std::uint32_t block = 0; block < blocks; ++block) {
    if (state.written.contains(block)) state.index.set(block, hash);
  }
  write_bytes(place + "/" + name + ".spindle-state", state.encode());
  write_file(place + "/" + name + ".spindle-part", "");
  std::filesystem::resize_file(place + "/" + name + ".spindle-part", size);
}

TEST(BulkFiles, OfWhatAllHaveInPartNoMoreIsSentThanTheRest) {
  constexpr std::uint64_t kSize = 256u << 20;
  constexpr std::uint64_t kBlockBytes = 8u << 20;
  LineOfThree line;
  wait_for_one_view(line.all());
  const TemporaryDirectory directory;
  const std::string sent = directory.path("disk.img");
  write_file(sent, "");
  std::filesystem::resize_file(sent, kSize);
  const std::vector<std::string> places{make_directory(directory, "a"), make_directory(directory, "b")};
  put_part_of_zeros(places[0], "disk.img", kSize, {5, 31});
  put_part_of_zeros(places[1], "disk.img", kSize, {5, 20});
  Process a(SPUSER_PATH, spuser_options(line.beta, {"receive-file", "images", places[0], "--count", "1"}));
  Process b(SPUSER_PATH, spuser_options(line.gamma, {"receive-file", "images", places[1], "--count", "1"}));
  const Finished sender = run(
      SPUSER_PATH, spuser_options(line.alpha, {"send-file", "images", sent, "--wait-members", "2"}), kProgramPatience);
  EXPECT_EQ(sender.code, 0) << sender.error;
  for (Process* each : {&a, &b}) EXPECT_EQ(each->wait(kProgramPatience), 0) << each->transcript();
  // What was granted before somebody was there, or before a process stood still for a moment, is sent as far as it
  // goes: a ring, which has 8 MiB at most (decision 36). Where nobody stands still the simulator counts every symbol.
  constexpr std::uint64_t kMore = 8u << 20;
  EXPECT_LE(line.alpha.count("bulk_bytes_relayed"), 3 * kBlockBytes + kMore);
  EXPECT_LE(line.beta.count("bulk_bytes_relayed"), 4 * kBlockBytes + 2 * kMore);
  EXPECT_LE(line.gamma.count("bulk_bytes_relayed"), 2 * kBlockBytes + kMore);
  EXPECT_LE(line.alpha.count("bulk_symbols_needless"), kMore / 8'192);
  EXPECT_EQ(std::filesystem::file_size(places[0] + "/disk.img"), kSize);
  EXPECT_EQ(std::filesystem::file_size(places[1] + "/disk.img"), kSize);
}

}  // namespace
}  // namespace spindle::test
