// The TypeScript SDK lists and calls every tool of the real program over standard input and output, and over HTTP:
// node sdk.mjs PROGRAM FOLDER [URL TOKEN]
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [program, folder, url, token] = process.argv.slice(2);
const transport = url
    ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } })
    : new StdioClientTransport({ command: program, args: ["-C", folder, "mcp"], env: process.env });
const client = new Client({ name: url ? "TypeScript by HTTP" : "TypeScript", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["recall", "remember", "read", "propose", "outcome", "status"]);
// The SDK itself holds structured content against the schema.
const call = async (name, given) => {
    const answer = await client.callTool({ name, arguments: given });
    assert.equal(answer.isError, false, JSON.stringify(answer));
    return answer.structuredContent;
};
const place = url ? "harbour" : "mill";
const kept = await call("remember", { texts: [`The ${place} was painted green by the TypeScript crew.`] });
assert.equal(kept.memories.length, 1);
const found = await call("recall", { question: `which colour has the ${place}?` });
const memory = found.memories.find((memory) => memory.text.includes(place));
assert.match(memory.origin, /^mcp:typescript/);
await call("read", { id: memory.cite, why: true });
const delta = { ops: [{ op: "create", concept: `the ${place} is green`, type: "semantic" }] };
assert.equal((await call("propose", { delta })).state, "waits");
assert.equal((await call("outcome", { of: memory.cite, text: `The ${place} is green.`, value: 1 })).error, 0.5);
assert.match((await call("status", {})).agent, /^mcp-typescript/);
assert.equal((await client.listResources()).resources.length, 2);
assert.equal((await client.listPrompts()).prompts.length, 2);
await client.close();
console.log(`TypeScript SDK ${url ? "by HTTP" : "by stdio"}: ${tools.length} tools listed and called`);
