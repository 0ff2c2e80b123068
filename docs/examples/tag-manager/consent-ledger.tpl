___TERMS_OF_SERVICE___

By creating or modifying this file you agree to Google Tag Manager's Community
Template Gallery Developer Terms of Service available at
https://developers.google.com/tag-manager/gallery-tos (or such other URL as
Google may provide), as modified from time to time.


___INFO___

{
  "type": "TAG",
  "id": "cvt_temp_public_id",
  "version": 1,
  "securityGroups": [],
  "displayName": "Consent Ledger",
  "categories": [
    "TAG_MANAGEMENT",
    "PERSONALIZATION"
  ],
  "brand": {
    "id": "brand_dummy",
    "displayName": ""
  },
  "description": "Denies Google's consent types by default, shows the banner of your own Consent Ledger, and updates the types by the choice of the visitor. Fire it on Consent Initialization - All Pages.",
  "containerContexts": [
    "WEB"
  ]
}


___TEMPLATE_PARAMETERS___

[
  {
    "type": "TEXT",
    "name": "service",
    "displayName": "Address of the service",
    "simpleValueType": true,
    "help": "The origin of your Consent Ledger, such as https://consent.example.org.",
    "valueValidators": [
      {
        "type": "REGEX",
        "args": [
          "^https://[^/?#]+/?$"
        ],
        "errorMessage": "Enter the origin of the service: https:// and a host, with no path."
      }
    ]
  },
  {
    "type": "TEXT",
    "name": "apiKey",
    "displayName": "Publishable API key",
    "simpleValueType": true,
    "help": "The dashboard shows it in API & Integrations. A publishable key is made for pages; never enter a secret one.",
    "valueValidators": [
      {
        "type": "REGEX",
        "args": [
          "^svc_(live|test)_[A-Za-z0-9_-]+$"
        ],
        "errorMessage": "Enter a key that begins with svc_live_ or svc_test_."
      }
    ]
  },
  {
    "type": "GROUP",
    "name": "consentMode",
    "displayName": "Google Consent Mode",
    "groupStyle": "ZIPPY_OPEN",
    "subParams": [
      {
        "type": "LABEL",
        "name": "defaultLabel",
        "displayName": "Every type is denied until the visitor chooses, except security_storage. The table below grants types in regions where your law allows that."
      },
      {
        "type": "PARAM_TABLE",
        "name": "regions",
        "displayName": "Regions with granted types",
        "paramTableColumns": [
          {
            "param": {
              "type": "TEXT",
              "name": "region",
              "displayName": "Regions (ISO 3166-2, separated by commas)",
              "simpleValueType": true
            },
            "isUnique": true
          },
          {
            "param": {
              "type": "TEXT",
              "name": "granted",
              "displayName": "Granted types (separated by commas)",
              "simpleValueType": true
            },
            "isUnique": false
          }
        ]
      },
      {
        "type": "PARAM_TABLE",
        "name": "categories",
        "displayName": "Types by category of the banner",
        "paramTableColumns": [
          {
            "param": {
              "type": "TEXT",
              "name": "category",
              "displayName": "Key of the category",
              "simpleValueType": true
            },
            "isUnique": true
          },
          {
            "param": {
              "type": "TEXT",
              "name": "types",
              "displayName": "Types (separated by commas)",
              "simpleValueType": true
            },
            "isUnique": false
          }
        ],
        "help": "If the table is empty: analytics permits analytics_storage; marketing permits ad_storage, ad_user_data and ad_personalization; preferences permits functionality_storage and personalization_storage."
      },
      {
        "type": "TEXT",
        "name": "waitForUpdate",
        "displayName": "Wait for the choice of an earlier page",
        "simpleValueType": true,
        "defaultValue": 500,
        "valueUnit": "milliseconds",
        "help": "How long tags of Google wait.",
        "valueValidators": [
          {
            "type": "NON_NEGATIVE_NUMBER"
          }
        ]
      }
    ]
  },
  {
    "type": "GROUP",
    "name": "more",
    "displayName": "More",
    "groupStyle": "ZIPPY_CLOSED",
    "subParams": [
      {
        "type": "TEXT",
        "name": "language",
        "displayName": "Language of the texts",
        "simpleValueType": true,
        "help": "Empty: that of the page."
      },
      {
        "type": "TEXT",
        "name": "cookieDomain",
        "displayName": "Domain of the cookies",
        "simpleValueType": true,
        "help": "For one choice across subdomains. Set it from the start."
      }
    ]
  }
]


___SANDBOXED_JS_FOR_WEB_TEMPLATE___

const callInWindow = require('callInWindow');
const createQueue = require('createQueue');
const injectScript = require('injectScript');
const makeNumber = require('makeNumber');
const setDefaultConsentState = require('setDefaultConsentState');
const updateConsentState = require('updateConsentState');

const TYPES = [
  'ad_storage',
  'ad_user_data',
  'ad_personalization',
  'analytics_storage',
  'functionality_storage',
  'personalization_storage'
];
const USUAL = [
  { category: 'analytics', types: 'analytics_storage' },
  { category: 'marketing', types: 'ad_storage,ad_user_data,ad_personalization' },
  { category: 'preferences', types: 'functionality_storage,personalization_storage' }
];

const listed = (text) => (text || '').split(',').map((entry) => entry.trim()).filter((entry) => entry.length > 0);

// The types that are not granted are denied, so that a forgotten one waits for the visitor.
const statesWith = (granted) => {
  const states = { security_storage: 'granted' };
  TYPES.forEach((type) => {
    states[type] = granted.indexOf(type) >= 0 ? 'granted' : 'denied';
  });
  return states;
};

const setDefault = (granted, regions) => {
  const states = statesWith(granted);
  if (regions.length > 0) states.region = regions;
  states.wait_for_update = makeNumber(data.waitForUpdate) || 0;
  setDefaultConsentState(states);
};

setDefault([], []);
(data.regions || []).forEach((row) => {
  const regions = listed(row.region);
  // A row without a region would grant its types everywhere.
  if (regions.length > 0) setDefault(listed(row.granted), regions);
});

const rows = data.categories && data.categories.length > 0 ? data.categories : USUAL;
const push = createQueue('dataLayer');

// A type that several categories name is granted by any of them.
const onAnswer = (permitted) => {
  const granted = [];
  rows.forEach((row) => {
    if (permitted[row.category.trim()] === true) listed(row.types).forEach((type) => granted.push(type));
  });
  updateConsentState(statesWith(granted));
  push({ event: 'consent-ledger-choice' });
};

const service = data.service.split('/').slice(0, 3).join('/');
const url = service + '/sdk/tag-manager.js';
const onLoaded = () => {
  const attributes = { apiKey: data.apiKey, language: data.language || '', cookieDomain: data.cookieDomain || '' };
  callInWindow('consentLedgerTagManager.start', attributes, rows.map((row) => row.category.trim()), onAnswer);
  data.gtmOnSuccess();
};
injectScript(url, onLoaded, data.gtmOnFailure, url);


___WEB_PERMISSIONS___

[
  {
    "instance": {
      "key": {
        "publicId": "access_consent",
        "versionId": "1"
      },
      "param": [
        {
          "key": "consentTypes",
          "value": {
            "type": 2,
            "listItem": [
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "consentType"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "ad_storage"
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": true
                  }
                ]
              },
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "consentType"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "ad_user_data"
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": true
                  }
                ]
              },
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "consentType"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "ad_personalization"
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": true
                  }
                ]
              },
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "consentType"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "analytics_storage"
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": true
                  }
                ]
              },
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "consentType"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "functionality_storage"
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": true
                  }
                ]
              },
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "consentType"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "personalization_storage"
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": true
                  }
                ]
              },
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "consentType"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "security_storage"
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": true
                  }
                ]
              }
            ]
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "access_globals",
        "versionId": "1"
      },
      "param": [
        {
          "key": "keys",
          "value": {
            "type": 2,
            "listItem": [
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "key"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  },
                  {
                    "type": 1,
                    "string": "execute"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "consentLedgerTagManager.start"
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": true
                  }
                ]
              },
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "key"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  },
                  {
                    "type": 1,
                    "string": "execute"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "dataLayer"
                  },
                  {
                    "type": 8,
                    "boolean": true
                  },
                  {
                    "type": 8,
                    "boolean": true
                  },
                  {
                    "type": 8,
                    "boolean": false
                  }
                ]
              }
            ]
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "inject_script",
        "versionId": "1"
      },
      "param": [
        {
          "key": "urls",
          "value": {
            "type": 2,
            "listItem": [
              {
                "type": 1,
                "string": "https://*/sdk/tag-manager.js"
              }
            ]
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  }
]


___TESTS___

scenarios:
- name: Everything is denied before the script is loaded
  code: |-
    runCode(mockData);
    assertThat(defaults.length).isEqualTo(1);
    assertThat(defaults[0].ad_storage).isEqualTo('denied');
    assertThat(defaults[0].analytics_storage).isEqualTo('denied');
    assertThat(defaults[0].security_storage).isEqualTo('granted');
    assertThat(defaults[0].wait_for_update).isEqualTo(500);
    assertThat(injected).isEqualTo('https://consent.example.org/sdk/tag-manager.js');
    assertApi('gtmOnSuccess').wasCalled();
- name: A region is granted what its row names, and nowhere else
  code: |-
    mockData.regions = [{ region: 'US-TX, US-FL', granted: 'analytics_storage' }, { region: '', granted: 'ad_storage' }];
    runCode(mockData);
    assertThat(defaults.length).isEqualTo(2);
    assertThat(defaults[1].region).isEqualTo(['US-TX', 'US-FL']);
    assertThat(defaults[1].analytics_storage).isEqualTo('granted');
    assertThat(defaults[1].ad_storage).isEqualTo('denied');
- name: A choice updates the types of its categories
  code: |-
    runCode(mockData);
    assertThat(categories).isEqualTo(['analytics', 'marketing', 'preferences']);
    tell({ analytics: true, marketing: false, preferences: false });
    assertThat(updates[0].analytics_storage).isEqualTo('granted');
    assertThat(updates[0].ad_storage).isEqualTo('denied');
    assertThat(pushed).isEqualTo(['consent-ledger-choice']);
- name: The categories of the site decide
  code: |-
    mockData.categories = [{ category: 'media', types: 'ad_storage, analytics_storage' }];
    runCode(mockData);
    assertThat(categories).isEqualTo(['media']);
    tell({ media: true });
    assertThat(updates[0].ad_storage).isEqualTo('granted');
    assertThat(updates[0].functionality_storage).isEqualTo('denied');
setup: |-
  const mockData = {
    service: 'https://consent.example.org/',
    apiKey: 'svc_live_x',
    waitForUpdate: '500'
  };
  const defaults = [];
  const updates = [];
  const pushed = [];
  let injected = '';
  let categories = [];
  let tell;
  mock('setDefaultConsentState', (states) => defaults.push(states));
  mock('updateConsentState', (states) => updates.push(states));
  mock('createQueue', () => (message) => pushed.push(message.event));
  mock('injectScript', (url, onSuccess) => {
    injected = url;
    onSuccess();
  });
  mock('callInWindow', (path, attributes, asked, listener) => {
    categories = asked;
    tell = listener;
  });


___NOTES___

Part of Consent Ledger, under the Apache License 2.0. docs/tag-manager-and-wordpress.md says how to
import it, and what was tried.
