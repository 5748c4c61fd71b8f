"""The Python SDK lists and calls every tool of the real program over standard input and output: sdk.py PROGRAM FOLDER."""
import asyncio
import importlib.metadata
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(program, folder):
    server = StdioServerParameters(command=program, args=["-C", folder, "mcp", "--client", "python"], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        assert tools == ["recall", "remember", "read", "propose", "outcome", "status"], tools

        async def call(name, **given):
            answer = await session.call_tool(name, given)
            # Names of fields differ between the major versions of the SDK.
            document = answer.model_dump(by_alias=True)
            assert not document["isError"], document
            return document["structuredContent"]

        assert len((await call("remember", texts=["The tower was built by the Python crew."]))["memories"]) == 1
        memory = (await call("recall", question="who built the tower?"))["memories"][0]
        assert memory["origin"] == "mcp:python", memory
        await call("read", id=memory["cite"], why=True)
        delta = {"ops": [{"op": "create", "concept": "the tower is old", "type": "semantic"}]}
        assert (await call("propose", delta=delta))["state"] == "waits"
        assert (await call("outcome", of=memory["cite"], text="They did.", value=1))["error"] == 0.5
        assert (await call("status"))["agent"] == "mcp-python"
        print(f"Python SDK {importlib.metadata.version('mcp')}: {len(tools)} tools listed and called")


asyncio.run(main(*sys.argv[1:]))
