import java.io.OutputStream;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;

/**
 * The program of one sender-receiver, whatever the system is that it is a member of. It speaks with `tools/bench` as
 * bench/hosts/cluster/member_program.h says, and its loads are those of bench/hosts/cluster/load.h.
 */
final class MemberProgram {
    interface Factory {
        /** By the options of the command line, with their dashes. */
        Member make(Map<String, String> options) throws Exception;
    }

    private MemberProgram() {}

    static void fail(String text) {
        System.err.println("member: " + text);
        System.err.flush();
        Runtime.getRuntime().halt(1);
    }

    static void run(String[] arguments, Factory factory) throws Exception {
        // Standard output is for tools/bench alone.
        PrintStream answers = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < arguments.length; i += 2) options.put(arguments[i], arguments[i + 1]);
        Plan plan = new Plan(options);
        Member member = factory.make(options);
        Load load = options.get("--measure").equals("latency") ? new OpenLoop(plan, member) : new ClosedLoop(plan, member);
        member.join(plan.members, load::receive);
        answers.println("ready");

        String[] go = readLine().split(" ");
        if (go.length != 2 || !go[0].equals("go")) fail("standard input does not say \"go <nanoseconds>\"");
        member.begin();
        plan.begin(Long.parseLong(go[1]));
        load.run();
        answers.println(load.result());
        while (System.in.read() >= 0) {
        }
        System.exit(0);
    }

    private static String readLine() throws Exception {
        StringBuilder line = new StringBuilder();
        for (int c = System.in.read(); c >= 0 && c != '\n'; c = System.in.read()) line.append((char) c);
        return line.toString();
    }
}
