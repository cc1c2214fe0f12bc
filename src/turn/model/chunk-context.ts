import type { UIMessageChunk } from "ai";
import type { ChunkContext } from "../hooks.ts";

/**
 * Returns a streamed piece in the form of the AI SDK's `onChunk`. Undefined for a piece that the SDK does not report.
 */
export function chunkContextOf(chunk: UIMessageChunk): ChunkContext | undefined {
  switch (chunk.type) {
    case "text-delta":
    case "reasoning-delta":
      return { chunk: { type: chunk.type, id: chunk.id, text: chunk.delta } };
    case "tool-input-start":
      return { chunk: { type: "tool-input-start", id: chunk.toolCallId, toolName: chunk.toolName } };
    case "tool-input-delta":
      return { chunk: { type: "tool-input-delta", id: chunk.toolCallId, delta: chunk.inputTextDelta } };
    case "tool-input-available": {
      const { input, toolCallId, toolName } = chunk;
      return { chunk: { type: "tool-call", toolCallId, toolName, input, dynamic: true } };
    }
    case "source-url": {
      const { sourceId, title, url } = chunk;
      return {
        chunk: {
          type: "source",
          sourceType: "url",
          id: sourceId,
          url,
          ...(title !== undefined && { title }),
        },
      };
    }
    default:
      return undefined;
  }
}
