import { dataOf, NoBody, None, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import {
  ChangeConfigurationRequest,
  ConfigurationDraft,
  ConfigurationVersion,
  ConfigurationVersionParams,
  ConfigurationVersionsQuery,
  ConfigurationVersionWithRecord,
  PublishConfigurationRequest,
  ReplaceConfigurationRequest,
} from '../../../../schemas/api/panel/configuration.js';
import { EDITORS, operation, READERS } from '../operation.js';
import { BANNER_OPERATIONS } from './banner-operations.js';

const tag = 'Configuration';
const path = '/sites/{site_id}/configuration';
/** The largest draft, with the escapes of its JSON. */
const DRAFT_BODY_LIMIT = 2 * 1024 * 1024;

export const readConfiguration = operation({
  id: 'readConfiguration',
  method: 'get',
  path,
  tag,
  summary: 'The draft of a site’s configuration, and what keeps it from being published',
  description:
    'A site has one draft. `revision` grows with every change of it, categories, cookies and banner texts included. A draft that nobody has begun says what is in force.',
  roles: READERS,
  params: SiteParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(ConfigurationDraft),
  errors: [],
  action: null,
});

export const replaceConfiguration = operation({
  id: 'replaceConfiguration',
  method: 'put',
  path,
  tag,
  summary: 'Write the whole draft anew',
  description: 'With the `revision` that was read: 409 WRONG_STATE if the draft was changed since.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: ReplaceConfigurationRequest,
  example: {
    controller: { legal_name: 'Example Shop Ltd', contact: 'privacy@shop.example' },
    default_language: 'en',
    languages: ['en'],
    validity_days: 365,
    banner: { en: { title: 'Cookies', accept: 'Accept', reject: 'Reject' } },
    withdrawal: { en: 'Change your choice at any time at the foot of each page.' },
    categories: [
      {
        key: 'analytics',
        required: false,
        title: { en: 'Statistics' },
        purpose: { en: 'To count visits' },
        lawful_basis: 'consent',
        personal_data: ['IP address'],
        recipients: ['Example Analytics'],
        retention_days: 390,
      },
    ],
    cookies: [
      {
        name: '_visits',
        provider: 'shop.example',
        category: 'analytics',
        party: 'first',
        duration_seconds: 31536000,
        purpose: { en: 'Tells a visit from the next' },
      },
    ],
    revision: 0,
  },
  bodyLimit: DRAFT_BODY_LIMIT,
  status: 200,
  response: dataOf(ConfigurationDraft),
  errors: ['WRONG_STATE'],
  action: 'configuration.replace',
});

export const changeConfiguration = operation({
  id: 'changeConfiguration',
  method: 'patch',
  path,
  tag,
  summary: 'Change the controller, languages or validity of the draft',
  description:
    'Members that are absent stay. With the `revision` that was read: 409 WRONG_STATE if the draft was changed since.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: ChangeConfigurationRequest,
  example: { validity_days: 180, revision: 3 },
  status: 200,
  response: dataOf(ConfigurationDraft),
  errors: ['WRONG_STATE'],
  action: 'configuration.change',
});

export const publishConfiguration = operation({
  id: 'publishConfiguration',
  method: 'post',
  path: `${path}/publish`,
  tag,
  summary: 'Publish the draft as the next version, in force from now on',
  description:
    'It goes to the log, and is sealed and stamped; consents name it by its hash. Refused with VALIDATION_ERROR if a text is missing in one of the languages, `errors` saying which; with 409 WRONG_STATE if the site is not verified, `revision` is not the draft’s, or nothing would change. Texts in other languages than the site’s are left out.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: PublishConfigurationRequest,
  example: { revision: 4 },
  status: 201,
  response: dataOf(ConfigurationVersion),
  errors: ['WRONG_STATE'],
  action: 'configuration.publish',
});

export const listConfigurationVersions = operation({
  id: 'listConfigurationVersions',
  method: 'get',
  path: `${path}/versions`,
  tag,
  summary: 'The published configurations of a site, newest first',
  description: '`publication` says in which batch each is sealed and when it was time-stamped.',
  roles: READERS,
  params: SiteParams,
  query: ConfigurationVersionsQuery,
  body: NoBody,
  status: 200,
  response: pageOf(ConfigurationVersion),
  errors: [],
  action: null,
});

export const readConfigurationVersion = operation({
  id: 'readConfigurationVersion',
  method: 'get',
  path: `${path}/versions/{number}`,
  tag,
  summary: 'One published configuration, with the exact text that its hash is over',
  roles: READERS,
  params: ConfigurationVersionParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(ConfigurationVersionWithRecord),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const CONFIGURATION_OPERATIONS = [
  readConfiguration,
  replaceConfiguration,
  changeConfiguration,
  publishConfiguration,
  listConfigurationVersions,
  readConfigurationVersion,
  ...BANNER_OPERATIONS,
];
