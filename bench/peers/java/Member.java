/** One member of the group that everybody sends to. Implemented once for each system; what goes wrong ends the process. */
interface Member {
    /** Called for every message of the group, the own ones included, by one thread at a time. */
    interface Receiver {
        void receive(byte[] bytes, int offset, int length);
    }

    /** Joins the group, and returns once it has so many members. */
    void join(int members, Receiver receiver) throws Exception;

    /** All members are told to start. */
    default void begin() {}

    void send(byte[] payload);

    /** Whether the array of a payload is the system's once it is sent. */
    default boolean keepsPayloads() {
        return false;
    }

    /** Whether the receiver may send. */
    default boolean mayReceiverSend() {
        return true;
    }
}
