// A page that takes the main entry, as a package may that serves pages and servers alike.
import { mockClient } from "@modelmesh/core";

const client = mockClient({ responses: ["Hello"] });
const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
globalThis.heard = answer.choices[0].message.content;
