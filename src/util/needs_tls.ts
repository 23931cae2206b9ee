/**
 * Plain HTTP that was sent to a TLS port.
 * @module
 */

/** The message of the error. */
export const needsTls =
  "Cannot connect to the provider: the port supports TLS only. Its URL has to begin with https://";

/** The words of nginx, Go's servers and Apache, which answer it by status 400. */
const complaints =
  /plain HTTP request was sent to HTTPS port|Client sent an HTTP request to an HTTPS server|speaking plain HTTP to an SSL-enabled server/;

/** Whether the body of an error response says that plain HTTP was sent to a TLS port. */
export function isPlainToTls(body: string): boolean {
  return complaints.test(body);
}
