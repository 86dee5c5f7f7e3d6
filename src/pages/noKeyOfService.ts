/** Why the service shows nothing to a console that has no key of it. */
export const NO_KEY_OF_SERVICE =
  'the console has no API key of it; set PAYMENTS_BASE_URL and PAYMENTS_API_KEY';
