/**
 * Minimal gateway on Deno: reads the body, replaces the model and forwards the response. Arguments: port and URL of the
 * upstream.
 * @module
 */
const [port, upstream] = Deno.args;

Deno.serve({ hostname: "127.0.0.1", port: Number(port), onListen: () => {} }, async (request) => {
  const body = await request.json();
  body.model = "mock-model";
  const response = await fetch(upstream!, {
    method: "POST",
    headers: { "content-type": "application/json", "authorization": "Bearer key" },
    body: JSON.stringify(body),
  });
  return new Response(response.body, { status: response.status, headers: response.headers });
});
