import { NoBody, None, PageQuery, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import { RecordedScan, ScanSiteRequest } from '../../../../schemas/api/panel/scans.js';
import { ScanResponse } from '../../../../schemas/api/scans.js';
import { EDITORS, operation, READERS } from '../operation.js';

const tag = 'Scans';
const path = '/sites/{site_id}/scans';

export const listScans = operation({
  id: 'listScans',
  method: 'get',
  path,
  tag,
  summary: 'List the recorded scans of a site, newest first',
  description: 'Scans without `record` are not kept.',
  roles: READERS,
  params: SiteParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(RecordedScan),
  errors: [],
  action: null,
});

export const scanSite = operation({
  id: 'scanSite',
  method: 'post',
  path,
  tag,
  summary: 'Scan a page for cookies and storage that are not declared, or set without permission',
  description:
    'The page must be on the verified domain of the site. The service visits it before any choice, and again as a visitor who has refused every optional category (docs/scans.md). The response comes within a minute. A tenant has six scans a minute, and a site 20 recorded ones in 24 hours.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: ScanSiteRequest,
  example: { url: 'https://shop.example/', record: true },
  status: 200,
  response: ScanResponse,
  errors: ['SCAN_URL_REFUSED', 'SCAN_FAILED', 'SCAN_LIMIT_EXCEEDED', 'SCAN_RECORDS_EXCEEDED', 'SCANNER_BUSY'],
  action: 'site.scan',
});

export const PANEL_SCAN_OPERATIONS = [listScans, scanSite];
