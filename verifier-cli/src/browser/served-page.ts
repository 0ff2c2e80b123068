// The verifier of the served page. `build-page.js` lets it start once the first script has shown an answer.
import './jitless.js';
import { languageOf } from '../i18n/language.js';
import { textsIn } from '../i18n/texts-in.js';
import { takeHandedOver } from './handed-over.js';
import { startLanguage } from './language.js';
import { startLookupReceipt } from './lookup-receipt.js';
import { startPage } from './page.js';
import { startPublishedTrust } from './published-trust.js';

const page = startPage(startLanguage(textsIn, languageOf(document.documentElement.lang)));
startLookupReceipt(page, startPublishedTrust(page));
takeHandedOver();
