"""Other programs that bring a file to many hosts, on the same segment: every host's cable has the same rate."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

from ..cluster.systems import Absent, need
from ..console import say
from ..figures import Figure
from ..marks import at_least, at_most, below
from ..processes import MeasurementFailed, end_all, show_logs, start, wait_for, wait_until_ready
from .places import MEGABIT, content_of, line, running
from .plain import tcp_between
from .setting import median_of
from .transfers import transfer

RATE = 200 * MEGABIT
RECEIVERS = (1, 2, 3)
SLOW = 3
PATIENCE_SECONDS = 60
LEAST_RATE = 2_000_000  # bytes a second
# Torrents of less have pieces of 64 KiB: with a few large ones there is little that receivers could give each other.
SMALL_BYTES = 50_000_000
TRACKER_PORT, RSYNC_PORT, TORRENT_PORT = 6969, 8730, 6881
TRACKER = pathlib.Path(__file__).with_name("tracker.py")
# Of a cable: senders of datagrams have to be told, and heads of frames count, too.
MULTICAST_SHARE = 0.93
# By default its messages go to all hosts, whose system does not give them to it.
UDPCAST_ADDRESS = "239.98.0.1"
REMEDY = "tools/bench installs it with --peers"


class Peer:
    """One program; `run` gives the seconds until each receiver has the file, by host, and leaves the files in `folder`/HOST."""

    programs = ()

    def __init__(self, hosts, content, folder, receivers=RECEIVERS):
        for program in self.programs:
            need(program, program, REMEDY)
        self.hosts = hosts
        self.content = content
        self.folder = folder
        self.receivers = receivers
        for host in receivers:
            (folder / str(host)).mkdir(parents=True)

    def place(self, host):
        return self.folder / str(host)

    def start(self, host, *command, **options):
        log = open(self.folder / f"{len(list(self.folder.iterdir()))}-{host}.log", "wb")
        with log:
            return subprocess.Popen([*self.hosts.inside(host), *map(str, command)], stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=log, **options)

    def patience(self):
        return PATIENCE_SECONDS + self.content.size / LEAST_RATE

    def wait_for_files(self, begin, is_done):
        """`is_done`, of a host."""
        done = {}

        def look():
            for host in self.receivers:
                if host not in done and is_done(host):
                    done[host] = time.monotonic() - begin
            return len(done) == len(self.receivers)
        wait_for(look, self.patience(), type(self).__name__)
        return done

    def wait_for_all(self, processes):
        for process in processes:
            if process.wait(self.patience()) != 0:
                raise MeasurementFailed(f"{process.args[-1]} ended with {process.returncode}")


class ScpChain(Peer):
    """From host to host, each when it has the file: as scp does, without its encryption."""

    def run(self):
        done, begin, path = {}, time.monotonic(), self.content.path
        for host in self.receivers:
            place = self.place(host) / self.content.path.name
            receiver = start([*self.hosts.inside(host), sys.executable, TRACKER.with_name("tcp_copy.py"), "receive", 4901,
                              place])
            wait_until_ready(receiver, 10, "a plain receiver")
            subprocess.run([*self.hosts.inside(host - 1), sys.executable, str(TRACKER.with_name("tcp_copy.py")), "send",
                            self.hosts.address(host), "4901", str(path)], check=True)
            done[host], path = time.monotonic() - begin, place
            end_all([receiver], 5)
        return done


class Rsync(Peer):
    """From the source to all at once, without encryption."""

    programs = ("rsync",)

    def run(self):
        servers, senders = [], []
        try:
            for host in self.receivers:
                config = self.folder / f"rsyncd-{host}.conf"
                config.write_text(f"uid = 0\ngid = 0\nuse chroot = no\npid file = {self.folder}/rsyncd-{host}.pid\n"
                                  f"[files]\npath = {self.place(host)}\nread only = no\n")
                servers.append(self.start(host, "rsync", "--daemon", "--no-detach", "--port", RSYNC_PORT, "--config", config))
            time.sleep(0.5)
            begin = time.monotonic()
            senders = [self.start(0, "rsync", "--whole-file", "--port", RSYNC_PORT, self.content.path,
                                  f"rsync://{self.hosts.address(host)}/files/") for host in self.receivers]
            return self.wait_for_files(begin, lambda host: senders[host - 1].poll() == 0)
        finally:
            end_all([*senders, *servers])


class Torrent(Peer):
    """A seed, a tracker beside it, and all receivers, which give each other what they have."""

    def run(self):
        torrent = self.folder / "content.torrent"
        announce = f"http://{self.hosts.address(0)}:{TRACKER_PORT}/announce"
        piece_bits = "16" if self.content.size < SMALL_BYTES else "20"
        subprocess.run(["mktorrent", "-a", announce, "-l", piece_bits, "-o", torrent, self.content.path], check=True,
                       stdout=subprocess.DEVNULL)
        tracker = start([*self.hosts.inside(0), sys.executable, TRACKER, self.hosts.address(0), TRACKER_PORT])
        clients = [tracker]
        try:
            wait_until_ready(tracker, 10, "the tracker")
            clients.append(self.client(0, torrent, self.content.path.parent))
            time.sleep(2 + self.content.size / 5e8)  # it looks at what it has
            begin = time.monotonic()
            for host in self.receivers:
                clients.append(self.client(host, torrent, self.place(host)))
            return self.wait_for_files(begin, lambda host: (self.folder / f"done-{host}").exists())
        finally:
            end_all(clients)

    def finish_script(self, host):
        script = self.folder / f"finish-{host}"
        script.write_text(f"#!/bin/sh\ntouch {self.folder}/done-{host}\n")
        script.chmod(0o755)
        return script


class Aria2(Torrent):
    programs = ("aria2c", "mktorrent")

    def client(self, host, torrent, place):
        return self.start(host, "aria2c", "--enable-dht=false", "--enable-dht6=false", "--bt-enable-lpd=false",
                          "--seed-time=600", "--seed-ratio=0.0", "--file-allocation=none", "--bt-tracker-interval=1",
                          "--bt-request-peer-speed-limit=100M", f"--listen-port={TORRENT_PORT}", f"--dir={place}",
                          "--check-integrity=true" if host == 0 else "--check-integrity=false", "--no-conf",
                          f"--on-bt-download-complete={self.finish_script(host)}", torrent)


class Transmission(Torrent):
    programs = ("transmission-cli", "mktorrent")

    def client(self, host, torrent, place):
        config = self.folder / f"config-{host}"
        config.mkdir()
        (config / "settings.json").write_text(json.dumps({
            "utp-enabled": False, "dht-enabled": False, "lpd-enabled": False, "port-forwarding-enabled": False,
            "encryption": 0, "cache-size-mb": 16, "preallocation": 0, "ratio-limit-enabled": False}))
        verify = ["-v"] if host == 0 else []
        return self.start(host, "transmission-cli", "-g", config, "-w", place, "-p", TORRENT_PORT, "-M", *verify,
                          "-f", self.finish_script(host), torrent, env={**os.environ, "HOME": str(config)})


class Uftp(Peer):
    """By multicast, at a rate that the cables carry; `congestion_control`: at that which the slowest receiver can take."""

    programs = ("uftp", "uftpd")
    congestion_control = False

    def run(self):
        receivers = []
        control = ["-C", "tfmcc"] if self.congestion_control else []
        try:
            for host in self.receivers:
                receivers.append(self.start(host, "uftpd", "-d", "-I", "eth0", "-D", self.place(host), "-B", 8 << 20,
                                            "-s", self.finish_script(host)))
            time.sleep(1)
            begin = time.monotonic()
            everybody = ",".join(f"0x0A6200{host + 1:02X}" for host in self.receivers)
            sender = self.start(0, "uftp", "-I", "eth0", "-R", int(RATE * MULTICAST_SHARE / 1000), "-B", 8 << 20,
                                "-H", everybody, *control, self.content.path)
            receivers.append(sender)
            done = self.wait_for_files(begin, lambda host: (self.folder / f"done-{host}").exists())
            return done
        finally:
            end_all(receivers)

    finish_script = Torrent.finish_script


class UftpPaced(Uftp):
    congestion_control = True


class Udpcast(Peer):
    """By multicast."""

    programs = ("udp-sender", "udp-receiver")

    def run(self):
        receivers = [self.start(host, "udp-receiver", "--interface", "eth0", "--nokbd", "--no-progress", "--mcast-rdv-address",
                                UDPCAST_ADDRESS, "--file",
                                self.place(host) / self.content.path.name) for host in self.receivers]
        try:
            time.sleep(0.5)
            begin = time.monotonic()
            receivers.append(self.start(0, "udp-sender", "--interface", "eth0", "--nokbd", "--no-progress", "--full-duplex",
                                        "--mcast-rdv-address", UDPCAST_ADDRESS,
                                        "--min-receivers", len(self.receivers), "--max-bitrate",
                                        f"{int(RATE * MULTICAST_SHARE / 1000)}k", "--file", self.content.path))
            return self.wait_for_files(begin, lambda host: receivers[host - 1].poll() == 0)
        finally:
            end_all(receivers)


OVER_TCP = {"scp chain": ScpChain, "rsync": Rsync, "aria2": Aria2, "transmission": Transmission}
MULTICAST = {"uftp": Uftp, "udpcast": Udpcast}


def peer_done(setting, hosts, content, name, peer, receivers=RECEIVERS):
    """Seconds until each receiver has it, by host; nothing: it cannot be had here."""
    folder = setting.folder / "peer"
    try:
        with contextlib.ExitStack() as stack:
            stack.callback(subprocess.run, ["rm", "-rf", folder])
            say(f"bulk: peers: {name}")
            running_peer = peer(hosts, content, folder, receivers)
            try:
                done = running_peer.run()
            except MeasurementFailed:
                show_logs(folder)
                raise
            for host in receivers:
                content.check(running_peer.place(host) / content.path.name)
            return done
    except Absent as why:
        say(f"bulk: peers: {why}")
        return None


def last(done):
    return max(done.values())


def beside_peers(setting):
    content = content_of(setting, setting.share(0.25))
    peers = {**OVER_TCP, **MULTICAST} if setting.peers else {"scp chain": ScpChain}
    rates = {host: RATE for host in (0, *RECEIVERS)}
    rounds = []
    with running(setting, "peers", 4, line(3), rates) as (hosts, daemons):
        for _ in range(setting.rounds):
            plain = tcp_between(hosts, 0, 1, content, setting.folder)
            ours = transfer(daemons, content, RECEIVERS).seconds
            rounds.append({"plain": plain, "ours": ours, **{
                name: done and last(done) for name, done in
                ((name, peer_done(setting, hosts, content, name, peer)) for name, peer in peers.items())}})
        slow = beside_a_slow_one(setting, hosts, daemons) if setting.peers else []
    ours = median_of(rounds, lambda each: each["ours"])
    figures = [Figure("peers", "seconds for 3 receivers in a line", ours, "{:.2f}", None,
                      f"one TCP connection {median_of(rounds, lambda each: each['plain']):.2f}")]
    for name in peers:
        must = at_most(1.03) if name in MULTICAST else below(1)
        if any(each[name] is None for each in rounds):
            figures.append(Figure("peers", f"time by that of {name}", None, must=must, note="cannot be had here"))
            continue
        figures.append(Figure("peers", f"time by that of {name}", median_of(rounds, lambda each: each["ours"] / each[name]),
                              "{:.2f}", must, f"{median_of(rounds, lambda each: each[name]):.2f} s"))
    return figures + slow


def beside_a_slow_one(setting, hosts, daemons):
    """The last host's cable has a tenth of the rate of others: how fast those are."""
    content = content_of(setting, setting.share(0.05))
    hosts.limit(SLOW, RATE // 10)
    others = lambda done: max(seconds for host, seconds in done.items() if host != SLOW)
    ours = others(transfer(daemons, content, RECEIVERS).done)
    theirs = peer_done(setting, hosts, content, "uftp, paced", UftpPaced)
    what = "rate of others by uftp's, one receiver at a tenth"
    if theirs is None:
        return [Figure("peers", what, None, must=at_least(3), note="cannot be had here")]
    return [Figure("peers", what, others(theirs) / ours, "{:.1f}", at_least(3), f"{ours:.1f} s by {others(theirs):.1f} s")]
