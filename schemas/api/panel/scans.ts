import * as z from 'zod';
import { ScanRequest } from '../scans.js';
import { Timestamp } from './common.js';
import { Publication } from './publication.js';

/** Body of POST /sites/{site_id}/scans: that of the Tool API, for the site in the path. */
export const ScanSiteRequest = z.strictObject(ScanRequest.shape);

/** A scan of a page that is recorded as evidence of the state of the site. */
export const RecordedScan = z
  .object({
    url: z.string().describe('Address of the page, without its query.'),
    recorded_at: Timestamp.describe('Time of the record.'),
    findings: z.int().describe('Number of names that are not declared, or that were set without permission.'),
    publication: Publication,
  })
  .meta({ id: 'RecordedScan' });
export type RecordedScan = z.infer<typeof RecordedScan>;
