import { z } from "zod";

/** A file or photo that a person has sent as the answer to a question. `Think.sentFile` fetches its bytes. */
export type SentFile = z.infer<typeof sentFile>;

/** A place on the map, in degrees, that a person has sent as the answer to a question. */
export type SentPlace = z.infer<typeof sentPlace>;

/** Limits of a file that a person may send. */
export interface SentFileLimits {
  /** Media types such as `application/pdf` or `image/*`. @default all */
  readonly accept?: readonly string[];
  readonly maxBytes?: number;
}

const sentFile = z.object({
  messengerId: z.string(),
  kind: z.enum(["image", "document", "audio", "voice", "video", "animation", "sticker", "other"]),
  /** Plain JSON that only the provider understands. */
  reference: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  name: z.string().exactOptional(),
  mediaType: z.string().exactOptional(),
  sizeBytes: z.number().exactOptional(),
});

const sentPlace = z.object({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  title: z.string().exactOptional(),
  address: z.string().exactOptional(),
});

/**
 * Schema of a photo, for a question's schema. The answer tells where the photo is; its bytes are not fetched.
 *
 * @example z.object({ reason: z.enum(["broken", "late"]), picture: photoSchema().describe("Picture of the damage") })
 */
export function photoSchema(limits: SentFileLimits = {}): typeof sentFile {
  return sentFile.meta({ format: "photo", ...limits });
}

/** Schema of a file of any kind, for a question's schema. */
export function fileSchema(limits: SentFileLimits = {}): typeof sentFile {
  return sentFile.meta({ format: "file", ...limits });
}

/** Schema of a place on the map, for a question's schema. */
export function placeSchema(): typeof sentPlace {
  return sentPlace.meta({ format: "place" });
}
