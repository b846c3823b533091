#include "tests/integration/openssl.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace spindle::test {

std::string why_no_openssl() {
  return openssl({"version"}).code == 0 ? std::string() : "there is no command `openssl` here";
}

ProcessOptions openssl_options(std::vector<std::string> arguments, int input) {
  ProcessOptions options;
  options.input = input;
  options.arguments = std::move(arguments);
  options.arguments.insert(options.arguments.begin(), "openssl");
  if (const char* path = std::getenv("PATH")) options.environment = {std::string("PATH=") + path};
  return options;
}

Finished openssl(std::vector<std::string> arguments, int input) {
  return run(kEnv, openssl_options(std::move(arguments), input));
}

Keyboard::Keyboard() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  read_end_ = Descriptor(ends[0]);
  write_end_ = Descriptor(ends[1]);
  ::fcntl(write_end_.get(), F_SETFL, O_NONBLOCK);
}

void Keyboard::type(std::string_view text) {
  const ssize_t written = ::write(write_end_.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) throw std::runtime_error("nobody reads what is typed");
}

}  // namespace spindle::test
