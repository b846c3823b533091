#include "libclient/tls/certificate_name.h"

#include <gtest/gtest.h>

namespace spindle {
namespace {

using Kind = CertificateName::Kind;

TEST(CertificateName, IsAUri) {
  EXPECT_EQ(to_uri({"trading", Kind::daemon, "alpha"}), "spindle://trading/daemon/alpha");
  EXPECT_EQ(to_uri({"trading", Kind::daemon, std::string(kAnyDaemon)}), "spindle://trading/daemon/*");
  EXPECT_EQ(to_uri({"a/b", Kind::client, "50%;x"}), "spindle://a%2Fb/client/50%25%3Bx");
}

TEST(CertificateName, ComesBackFromItsUri) {
  for (const Kind kind : {Kind::daemon, Kind::client, Kind::administrator}) {
    for (const std::string& text : {std::string("alpha"), std::string("a/b"), std::string("%2F"), std::string("*"),
                                    std::string("a:b@c?d&e=f"), std::string(64, 'x')}) {
      const CertificateName name{text, kind, text};
      EXPECT_EQ(parse_certificate_name(to_uri(name)), name) << to_uri(name);
    }
  }
}

TEST(CertificateName, IsNothingElse) {
  for (const std::string& uri :
       {std::string(), std::string("spindle:"), std::string("spindle://"), std::string("spindle://trading"),
        std::string("spindle://trading/daemon"), std::string("spindle://trading/daemon/"),
        std::string("spindle:///daemon/alpha"), std::string("spindle://trading/king/alpha"),
        std::string("spindle://trading/daemon/alpha/beta"), std::string("https://trading/daemon/alpha"),
        std::string("spindle://trading/daemon/al%"), std::string("spindle://trading/daemon/al%2"),
        std::string("spindle://trading/daemon/al%2f"),  // one form for each name
        std::string("spindle://trading/daemon/%41lpha"), std::string("spindle://trading/daemon/al pha"),
        std::string("spindle://trading/daemon/al%23pha"),  // no name has a '#'
        std::string("spindle://trading/daemon/al%00pha"), "spindle://trading/daemon/" + std::string(65, 'x')}) {
    EXPECT_FALSE(parse_certificate_name(uri)) << uri;
  }
}

TEST(CertificateName, NamesItsHolderForRules) {
  EXPECT_EQ(to_identity({"trading", Kind::daemon, "alpha"}), "daemon:alpha");
  EXPECT_EQ(to_identity({"trading", Kind::client, "feed"}), "cert:feed");
  EXPECT_EQ(to_identity({"trading", Kind::administrator, "anna"}), "operator:anna");
}

}  // namespace
}  // namespace spindle
