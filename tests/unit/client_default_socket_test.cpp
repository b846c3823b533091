// Where daemons make their sockets and clients look for them, when nobody says so.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "libclient/io/default_socket.h"
#include "libclient/src/socket.h"
#include "tests/support/files.h"

namespace spindle {
namespace {

class DefaultSocketTest : public testing::Test {
 protected:
  DefaultSocketTest() {
    folders_.system = folder_.path("system");
    folders_.user = folder_.path("user");
    folders_.anybodys = folder_.path("tmp");
    std::filesystem::create_directory(folders_.anybodys);
  }

  static Descriptor listen_at(const std::string& path) {
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket.get(), 1), 0);
    return socket;
  }
  std::string made() { return default_socket_to_make("s", folders_); }
  DefaultSocket found() { return find_default_socket("s", folders_); }

  test::TemporaryDirectory folder_;
  SocketFolders folders_;
};

TEST_F(DefaultSocketTest, IsMadeInTheFirstFolderThatThereIs) {
  EXPECT_EQ(made(), folders_.anybodys + "/s");
  std::filesystem::create_directory(folders_.user);
  EXPECT_EQ(made(), folders_.user + "/s");
  std::filesystem::create_directory(folders_.system);
  EXPECT_EQ(made(), folders_.system + "/s");
  if (::geteuid() == 0) return;  // root may write everywhere
  ::chmod(folders_.system.c_str(), 0555);
  EXPECT_EQ(made(), folders_.user + "/s") << "that of the system's daemon is not for others";
}

TEST_F(DefaultSocketTest, IsFoundWhereItIs) {
  for (const std::string& folder : {folders_.user, folders_.system}) std::filesystem::create_directory(folder);
  EXPECT_EQ(found().path, folders_.anybodys + "/s");
  EXPECT_EQ(default_socket_places("s", folders_),
            folders_.system + "/s, " + folders_.user + "/s or " + folders_.anybodys + "/s");
  const Descriptor third = listen_at(folders_.anybodys + "/s");
  EXPECT_EQ(found().path, folders_.anybodys + "/s");
  EXPECT_TRUE(found().is_anybodys);
  const Descriptor second = listen_at(folders_.user + "/s");
  EXPECT_EQ(found().path, folders_.user + "/s");
  EXPECT_FALSE(found().is_anybodys);
  std::filesystem::create_directory(folders_.system + "/s");
  EXPECT_EQ(found().path, folders_.user + "/s") << "a folder is no socket";
}

TEST_F(DefaultSocketTest, WhereAnybodyMayListenOnlyRootAndOneselfAreTrusted) {
  Address address;
  ASSERT_TRUE(parse_address(folders_.anybodys + "/s", address));
  address.is_anybodys = true;
  std::string text;
  const auto connect = [&] {
    std::error_code error;
    connect_socket(address, std::chrono::steady_clock::now() + std::chrono::seconds(10), error, text);
    return error;
  };
  const Descriptor own = listen_at(address.path);
  EXPECT_FALSE(connect());
  if (::geteuid() != 0) GTEST_SKIP() << "only root can listen as another user";
  std::filesystem::remove(address.path);
  ::chmod(folder_.path("").c_str(), 0755);
  ::chmod(folders_.anybodys.c_str(), 0777);
  ASSERT_EQ(::seteuid(65534), 0);
  const Descriptor strangers = listen_at(address.path);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(connect(), Errc::connect_failed);
  EXPECT_TRUE(text.starts_with(address.path + ": user 65534 listens there")) << text;
  address.is_anybodys = false;
  EXPECT_FALSE(connect()) << "a path that was said is trusted";
}

}  // namespace
}  // namespace spindle
