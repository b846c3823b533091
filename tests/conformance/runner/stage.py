"""The daemons and clients of one scenario, and what happens to them."""
import concurrent.futures
import pathlib
import signal

from .client import Client
from .daemon import Daemon
from .driver import Driver
from .failure import Failure
from .proxy import Proxy
from .scenario import Private
from .world_verbs import NEED_PROXY


class Stage:
    def __init__(self, programs, driver_command, folder, scenario):
        self._programs = programs
        self._driver_command = driver_command
        self._folder = pathlib.Path(folder)
        self._scenario = scenario
        self._daemons = {}
        self._clients = {}
        self._proxies = []

    # For all verbs.

    def add(self, client):
        self._clients[client.name] = client

    def clients(self, names):
        return [self._clients[name] for name in names]

    def open_clients(self):
        return [client for client in self._clients.values() if client.is_open]

    def private_names(self, names):
        return {client.private_name for client in self.clients(names)}

    @property
    def folder(self):
        return self._folder

    def feed(self, named):
        found = self._clients[named.source].feeds
        if named.number > len(found):
            raise Failure(f"{named.source} has opened only {len(found)} feeds")
        return found[named.number - 1]

    def content(self, offered):
        found = self._clients[offered.source].contents
        if offered.number > len(found):
            raise Failure(f"{offered.source} has offered only {len(found)} contents")
        return found[offered.number - 1]

    def resolve(self, names):
        return [self._clients[name.client].private_name if isinstance(name, Private) else name for name in names]

    def expected(self, sequences, groups=None):
        """What was sent, for lists of sequences: where groups are named, to these."""
        return [[message for part in sequence for message in self._sent(part, groups)] for sequence in sequences]

    def _sent(self, part, groups):
        sent = self._clients[part.sender].sent
        last = len(sent) if part.last is None else part.last
        first = last if part.first is None else part.first
        if last > len(sent):
            raise Failure(f"{part.sender} has sent only {len(sent)} messages")
        found = [message for message in sent[first - 1:last] if groups in (None, message.groups)]
        # Without an end it is those of all that were sent to these groups.
        if not found or (part.last is not None and len(found) != last - first + 1):
            raise Failure(f"{part.sender} has sent no such messages to these groups")
        return found

    def label_of(self, event):
        """How the scenario calls a message that has come; None if nobody has sent it."""
        return self.label(event.bytes("sender"), event.number("size"), event.number("digest"))

    def label(self, sender, size, digest):
        sent = self._clients[self.who(sender)].sent if self.who(sender) else []
        labels = [message.label for message in sent if (message.size, message.digest) == (size, digest)]
        return labels[0] if labels else None

    def who(self, private_name):
        """The client that had this name last; None if nobody."""
        found = [client.name for client in self._clients.values() if private_name in client.names]
        return found[-1] if found else None

    @staticmethod
    def each(clients, function):
        """Calls the function for all clients at once. What it returns, in their order."""
        if len(clients) == 1:
            return [function(clients[0])]
        with concurrent.futures.ThreadPoolExecutor(len(clients)) as pool:
            return list(pool.map(function, clients))

    # Daemons.

    def start_daemons(self, of):
        for name in of["names"]:
            if name in self._daemons:
                raise Failure(f"there is a daemon {name} already")
            before = list(self._daemons.values())
            neighbours = {"apart": [], "line": before[-1:], "linked": before}[of["shape"]]
            addresses = [daemon.link_address for daemon in neighbours]
            self._daemons[name] = Daemon(self._programs, self._folder, name, addresses, of["settings"])
        for name in of["names"]:
            self._daemons[name].wait_for_view([name] if of["shape"] == "apart" else list(self._daemons))

    def restart(self, of):
        for name in of["names"]:
            self._daemons[name].end()
            self._daemons[name].start()

    def partition(self, of):
        sides = " / ".join(",".join(side) for side in of["sides"]).split()
        self._any_daemon().monitor("partition", *sides, "--for", "10m")

    def heal(self, of):
        self._any_daemon().monitor("heal")

    def _any_daemon(self):
        return next(daemon for daemon in self._daemons.values() if daemon.is_running())

    # Clients.

    def start_clients(self, of):
        for each in of["clients"]:
            self._start_client(each)

    def _start_client(self, of):
        name = of["client"]
        driver = Driver(self._driver_command, self._folder / f"{name}.log")
        client = Client(name, len(self._clients) + 1, driver, None)
        self.add(client)
        daemons = [self._daemons[server] for server in of["servers"]]
        addresses = [daemon.client_address(of["by"]) for daemon in daemons]
        if self._scenario.verbs_on(name) & NEED_PROXY:
            # By TCP: the daemon keeps no session for who is on its host.
            client.proxy = Proxy(str(self._folder / f"{name}.proxy"), lambda: daemons[0].client_address("tcp"))
            self._proxies.append(client.proxy)
            addresses[0] = client.proxy.address
        self._connect(client, addresses, of)

    def _connect(self, client, addresses, of):
        options = dict([("name", client.name), *of["options"]])
        if "address" in options:
            addresses = [options.pop("address")]
        pairs = [("address", address) for address in addresses] + list(options.items())
        answer = client.driver.call("connect", pairs)
        code = answer.values.text("code") if answer.word == "failed" else None
        if code != of["refused"]:
            raise Failure(f"{client.name} connects with {code or 'no error'}: {answer.values.text('text', '')}")
        if code is None:
            client.connected_as(answer.values.bytes("name"))

    def signal(self, of, number):
        for name in of["names"]:
            if name in self._daemons:
                self._daemons[name].send_signal(number)
            else:
                self._clients[name].driver.send_signal(number)

    def kill(self, of):
        for name in of["names"]:
            if name in self._daemons:
                self._daemons[name].end()
            else:
                self._clients[name].driver.end()
                self._clients[name].is_open = False

    def end_daemons(self, of):
        for name in of["names"]:
            self._daemons[name].end(signal.SIGTERM)

    def cut(self, of):
        proxy = self._clients[of["client"]].proxy
        if of["after"] is None:
            proxy.cut(of["for_ms"])
        else:
            proxy.cut_after(of["after"], of["direction"], of["for_ms"])

    # The end.

    def close(self):
        for client in self._clients.values():
            client.driver.end()
        for proxy in self._proxies:
            proxy.close()
        for daemon in self._daemons.values():
            daemon.end()

    def logs(self):
        return "".join(f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}"
                       for path in sorted(self._folder.glob("*.log")) if path.stat().st_size)


VERBS = {
    "daemons": Stage.start_daemons, "daemon": Stage.start_daemons, "client": Stage.start_clients,
    "restart": Stage.restart,
    "partition": Stage.partition, "heal": Stage.heal, "kill": Stage.kill, "end": Stage.end_daemons,
    "stop": lambda stage, of: stage.signal(of, signal.SIGSTOP),
    "continue": lambda stage, of: stage.signal(of, signal.SIGCONT),
    "cut": Stage.cut,
    "stall": lambda stage, of: stage.clients([of["client"]])[0].proxy.stall(),
    "forward": lambda stage, of: stage.clients([of["client"]])[0].proxy.forward(),
    "insert": lambda stage, of: stage.clients([of["client"]])[0].proxy.insert(of["bytes"])}
