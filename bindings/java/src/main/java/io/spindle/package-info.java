/**
 * Connections to a Spindle daemon, what is sent and what is received by them.
 *
 * <pre>{@code
 * try (Connection connection = Spindle.connect(ConnectOptions.named("reader"))) {
 *   connection.join("news").get(5, TimeUnit.SECONDS);
 *   for (Event event : connection) {
 *     if (event instanceof Message message) {
 *       System.out.println(message.sender() + " " + message.text());
 *     }
 *   }
 * }
 * }</pre>
 */
package io.spindle;
