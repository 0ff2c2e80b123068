import { auth } from './auth.js';
import { common } from './common.js';
import { consents } from './consents.js';
import { documents } from './documents.js';
import { erasures } from './erasures.js';
import { errors } from './errors.js';
import { evidence } from './evidence.js';
import { keys } from './keys.js';
import { shell } from './shell.js';
import { sites } from './sites.js';

export const en = { auth, common, consents, documents, erasures, errors, evidence, keys, shell, sites };
