// The address of the service and the key of the site become part of the build.
const { CONSENT_SERVICE, CONSENT_KEY } = process.env;

export default defineNuxtConfig({
  app: {
    head: {
      title: 'Garden shop',
      htmlAttrs: { lang: 'en' },
      script: [
        { src: `${CONSENT_SERVICE}/sdk/consent.js`, 'data-api-key': CONSENT_KEY },
        { type: 'text/plain', 'data-consent': 'analytics', src: 'https://statistics.example/count.js' },
      ],
    },
  },
});
