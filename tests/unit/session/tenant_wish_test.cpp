// The texts in which people write a tenant's part of the devices.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "runtime/session/wish/tenant_wish.hpp"

namespace fairgv::session {
namespace {

using namespace std::chrono_literals;
using sched::Reservation;
using sched::ServiceClass;
using sched::Share;

TEST(TenantWish, AGuaranteeIsAPartOfTheDeviceOrTimeInAPeriod) {
  EXPECT_EQ(parse_min("20%", "it").value(), (Reservation{10ms, 50ms}));
  EXPECT_EQ(parse_min("5ms/50ms", "it").value(), (Reservation{5ms, 50ms}));
  EXPECT_EQ(parse_min("0.5ms/1s", "it").value(), (Reservation{500us, 1s}));
  EXPECT_TRUE(parse_min("none", "it").value().empty());
}

TEST(TenantWish, ASmallPartHasAPeriodLongEnoughForAUsefulTurn) {
  for (const char* text : {"0.1%", "0.3%", "1%", "2.5%", "33.3%", "100%"}) {
    const auto min = parse_min(text, "it");
    ASSERT_TRUE(min) << text;
    EXPECT_TRUE(min->budget >= 2ms || min->period == 1s) << text;
    EXPECT_LE(min->period, 1s) << text;
    EXPECT_EQ(to_text(min.value()), text);
  }
}

TEST(TenantWish, IsWrittenAsItIsRead) {
  for (const char* text : {"20%", "5ms/60ms", "400us/1s", "7ms/13ms", "none"}) {
    EXPECT_EQ(to_text(parse_min(text, "it").value()), text);
  }
  for (const char* text : {"50%", "12.5%", "0.1%", "100%"}) {
    EXPECT_EQ(to_text(parse_max(text, "it").value()), text);
  }
  for (const char* text : {"normal", "latency", "latency:5ms", "latency:250us", "batch"}) {
    EXPECT_EQ(to_text(parse_service(text, "it").value()), text);
  }
}

TEST(TenantWish, TravelsAsFieldsOfAMessage) {
  const TenantWish whole{.weight = 3,
                         .min = Reservation{7ms, 13ms},
                         .max = Share{700'000},
                         .service = ServiceWish{ServiceClass::latency, 5ms}};
  for (const TenantWish& wish : {whole, TenantWish{}, TenantWish{.max = Share{1'000}}}) {
    nlohmann::json object = nlohmann::json::object();
    add_to(object, wish);
    JsonFields fields(json_text(object), "wish");
    EXPECT_EQ(read_tenant_wish(fields), wish);
    EXPECT_TRUE(fields.ok());
  }
}

TEST(TenantWish, ANewerWishReplacesThePartsThatItHas) {
  TenantWish wish{.weight = 3, .max = Share{700'000}};
  wish.update({.weight = 4, .service = ServiceWish{ServiceClass::batch}});
  EXPECT_EQ(wish,
            (TenantWish{.weight = 4, .max = Share{700'000}, .service = ServiceWish{ServiceClass::batch}}));
}

struct BadWish {
  const char* text;
  bool (*parses)(const std::string& text, std::string& message);
};

template <auto Parse>
bool parses(const std::string& text, std::string& message) {
  const auto value = Parse(text, "--option");
  if (!value) message = value.error().message;
  return static_cast<bool>(value);
}

TEST(TenantWish, ABadTextIsToldInOneLineThatNamesWhereItCameFrom) {
  const BadWish wishes[] = {
      {"", parses<parse_min>},
      {"20", parses<parse_min>},
      {"0%", parses<parse_min>},
      {"-5%", parses<parse_min>},
      {"101%", parses<parse_min>},
      {"5ms", parses<parse_min>},
      {"60ms/50ms", parses<parse_min>},
      {"5ms/2s", parses<parse_min>},
      {"0ms/50ms", parses<parse_min>},
      {"5ms/0.5ms", parses<parse_min>},
      {"nan%", parses<parse_min>},
      {"5/50", parses<parse_min>},
      {"50", parses<parse_max>},
      {"0%", parses<parse_max>},
      {"none", parses<parse_max>},
      {"fast", parses<parse_service>},
      {"latency:", parses<parse_service>},
      {"batch:5ms", parses<parse_service>},
      {"latency:2s", parses<parse_service>},
      {"a\nb", parses<parse_service>},
      {"0", parses<parse_weight>},
      {"1e3", parses<parse_weight>},
  };
  for (const BadWish& wish : wishes) {
    std::string message;
    EXPECT_FALSE(wish.parses(wish.text, message)) << wish.text;
    EXPECT_TRUE(message.starts_with("--option is '")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace fairgv::session
