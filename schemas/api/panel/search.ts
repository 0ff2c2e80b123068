import * as z from 'zod';
import { identifierIn } from '../../text/identifier-in.js';
import { dataOf } from './common.js';
import { NamedThing } from './named-things.js';

export const SearchRequest = z.strictObject({
  text: z
    .string()
    .max(200)
    .refine(
      (text) => identifierIn(text) !== null,
      'must be a consent token (ct_…), a proof hash (64 hexadecimal digits) or a UUID',
    )
    .describe('A consent token, a proof hash, or a UUID.'),
});

export const SearchResponse = dataOf(z.array(NamedThing).describe('What the text names, if the role may see it.'));
