// Passes requests on to a server with its token, which the conformance suite cannot send: node pass.js PORT OF TOKEN. Everything
// else, `Host` and `Origin` among it, goes through as it came.
const http = require("node:http");
const [port, of, token] = process.argv.slice(2);
http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const options = { host: "127.0.0.1", port: of, path: request.url, method: request.method, headers };
    const passed = http.request(options, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
}).listen(port, "127.0.0.1");
