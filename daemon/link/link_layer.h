// What the parts of the link layer share.
#pragma once

#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/link/datagrams.h"
#include "daemon/link/link_events.h"
#include "daemon/link/link_table.h"
#include "daemon/link/neighbours.h"

namespace spindled {

/// The connections there are and the neighbours to dial. `Links` makes it first, and its parts refer to it.
struct LinkLayer {
  LinkLayer(Context& node_context, Driver& node_driver)
      : context(node_context),
        driver(node_driver),
        log(context.log_sink, "link"),
        neighbours(context.config.link, context.random.split()),
        datagrams(context, driver, log) {}
  LinkLayer(const LinkLayer&) = delete;
  LinkLayer& operator=(const LinkLayer&) = delete;

  Context& context;
  Driver& driver;
  const Log log;
  LinkEvents* events = nullptr;  // the layer above: Links::attach
  LinkTable table;
  Neighbours neighbours;
  Datagrams datagrams;
  bool stopping = false;
};

}  // namespace spindled
