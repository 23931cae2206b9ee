/**
 * Explains why TLS connections fail, by the codes of Node and the messages of the TLS libraries of Node and Deno.
 * @module
 */
import { NetworkError } from "../errors.ts";

const failed = "Cannot connect to the provider: the TLS handshake failed";

/** The first match applies. A message may quote names in the certificate, hence the complete phrases. */
const causes: readonly (readonly [text: RegExp, cause: string])[] = [
  [
    /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames|certificate not valid for name/,
    "its certificate is for another host name",
  ],
  [/CERT_HAS_EXPIRED|certificate has expired|peer certificate: certificate expired/, "its certificate has expired"],
  [
    /CERT_NOT_YET_VALID|certificate is not yet valid|peer certificate: certificate not valid yet/,
    "its certificate is not valid yet; this machine's clock may be wrong",
  ],
  [
    /UNABLE_TO_(?:VERIFY|GET_ISSUER)|SELF_SIGNED_CERT|CERT_UNTRUSTED|unable to (?:verify the first|get (?:local )?issuer) certificate|self-signed certificate|UnknownIssuer|CaUsedAsEndEntity|BadSignature/,
    "its certificate is not trusted. If its authority is private, name the authority's PEM file in NODE_EXTRA_CA_CERTS " +
    "or in providers.<id>.execution.ca; on Deno, DENO_TLS_CA_STORE=system adds those of the system",
  ],
  [
    /wrong version number|WRONG_VERSION_NUMBER|packet length too long|PACKET_LENGTH_TOO_LONG|received corrupt message/,
    "the port does not support TLS. Its URL may have to begin with http://",
  ],
];

/**
 * Explains a failed handshake.
 *
 * @param text Code and message of the runtime's error.
 * @returns Our own message, which quotes neither.
 */
export function explainTlsFault(text: string): string {
  const cause = causes.find(([pattern]) => pattern.test(text))?.[1];
  return cause === undefined ? failed : `${failed}: ${cause}`;
}

/** Converts the error of a failed handshake: nothing was sent. */
export function createTlsFault({ code = "", message }: { code?: string; message: string }): NetworkError {
  return new NetworkError(explainTlsFault(`${code} ${message}`), { neverSent: true });
}
