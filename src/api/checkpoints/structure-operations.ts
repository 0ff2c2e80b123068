import * as z from 'zod';
import { CANONICAL_DIGITS, numberInUrl } from '../../../schemas/api/common.js';
import { NoBody, None } from '../../../schemas/api/panel/common.js';
import { parseTileNumber, parseTilePath, TILE_TYPE } from '../../../schemas/merkle/tiles.js';
import { AnyQuery, defineOperation, OPEN, type Operation } from '../server/operation.js';

const TILE = z
  .string()
  .transform(parseTilePath)
  .pipe(z.object({ index: z.int(), width: z.int() }))
  .meta({ description: 'Place of the tile, such as `x001/x234/067` or, if it is partial, `000.p/5`.' });

const TileParams = z.object({
  level: numberInUrl(0, 63, 'must be a level from 0 to 63', CANONICAL_DIGITS).describe('Level of the tile.'),
  tile: TILE,
});
const BundleParams = z.object({ tile: TILE });
const StructureParams = z.object({
  leaf: z
    .string()
    .transform(parseTileNumber)
    .pipe(z.int())
    .meta({ description: 'Number of the leaf of the ledger tree, written as the place of a tile: `000`.' }),
});

const shared = {
  method: 'get',
  tag: 'Ledger',
  access: OPEN,
  invalidParams: 'TILE_NOT_FOUND',
  query: AnyQuery,
  body: NoBody,
  status: 200,
  response: None,
  action: null,
} as const;

export const getNewestCheckpoint = defineOperation({
  ...shared,
  id: 'getNewestCheckpoint',
  path: '/checkpoints/log/checkpoint',
  summary: 'Get the newest stamped checkpoint, with its cosignatures',
  description:
    'The checkpoint of a tiled log (C2SP tlog-tiles) with the prefix `/checkpoints/log`. Tiles and structure files reach up to it.',
  params: None,
  download: { mediaType: 'text/plain', description: 'The signed note, and the lines of witnesses.' },
  errors: ['CHECKPOINT_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
  example: {},
});

export const getTile = defineOperation({
  ...shared,
  id: 'getTile',
  path: '/checkpoints/log/tile/{level}/{tile}',
  isLastSlashed: true,
  summary: 'Get a tile of the ledger tree',
  description: 'Hashes of a level of the tree, 32 bytes each (C2SP tlog-tiles).',
  params: TileParams,
  download: { mediaType: TILE_TYPE, description: 'At most 256 hashes.' },
  errors: ['TILE_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
  example: { path: { level: '0', tile: '000.p/1' } },
});

export const getEntryBundle = defineOperation({
  ...shared,
  id: 'getEntryBundle',
  path: '/checkpoints/log/tile/entries/{tile}',
  isLastSlashed: true,
  summary: 'Get a bundle of the entries of the ledger tree',
  description: 'The entries are headers of batches and roll-ups (C2SP tlog-tiles).',
  params: BundleParams,
  download: { mediaType: TILE_TYPE, description: 'Entries, each after its length as two bytes, big-endian.' },
  errors: ['TILE_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
  example: { path: { tile: '000.p/1' } },
});

export const getStructure = defineOperation({
  ...shared,
  id: 'getStructure',
  path: '/checkpoints/log/structure/{leaf}',
  isLastSlashed: true,
  summary: 'Get the structure of a batch or roll-up',
  description:
    'Its runs in the order of `streams_root`, each as key (32 bytes), first and last revision (8 bytes each, big-endian), then its tags in the order of `tags_root` (32 bytes each). If the operator restricts the structure to auditors, the request has the header `Authorization: Bearer`. `Range` resumes a download. Large roll-ups are served to two clients at a time, and to one at one address, which must take 16 kB a second on average. 503 has `Retry-After`.',
  params: StructureParams,
  download: { mediaType: TILE_TYPE, description: 'The header of the leaf states how many runs and tags follow.' },
  errors: [
    'TILE_NOT_FOUND',
    'MISSING_BEARER_TOKEN',
    'INVALID_BEARER_TOKEN',
    'RANGE_NOT_SATISFIABLE',
    'SERVICE_UNAVAILABLE',
  ],
  example: { path: { leaf: '000' } },
});

/** The structure of the ledger, from which anyone recomputes its roll-ups. */
export const STRUCTURE_OPERATIONS: readonly Operation[] = [getNewestCheckpoint, getTile, getEntryBundle, getStructure];
