/**
 * Lists and texts of property tests are as long as `maxLength` states. By default, fast-check generates ten
 * elements at most, so that no test reaches a limit.
 */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), defaultSizeToMaxWhenMaxSpecified: true });
