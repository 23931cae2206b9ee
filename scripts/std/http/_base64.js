// In place of @std/encoding/base64, which makes use of what Node 20 lacks.
export function encodeBase64(data) {
  return btoa(String.fromCharCode(...new Uint8Array(data)));
}
