// A profile as it stands in its file, and the samples that it names. No number is fitted here.
#pragma once

#include <stdexcept>
#include <string>

#include "profile/profile.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost::profile {

/// Whose samples a profile, or a preset, can be held against.
Backend backend_of(const Values& device);

/// By its name, .yaml or .yml: tables and samples have others.
bool is_profile_path(const std::string& path);

/// The samples are another machine's: nothing to hold against anything here.
class ForeignSamples : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws MeasurementInvalid for samples that have a problem, ForeignSamples for those that were
/// not measured on `machine`.
void require_good_and_own(const Samples& samples, const std::string& machine);

struct StoredProfile {
  Values values;
  Profile profile;  // no file holds the variants of ceilings, nor the signs of the worst errors
  Samples samples;  // good, and of the same machine
};

/// What a file holds of a profile. Throws InputError.
Profile profile_in(const Values& values);

/// Throws InputError where a file cannot be read or is no profile; else as
/// require_good_and_own().
StoredProfile load_profile(const std::string& path);

/// Throws InputError where the profile was made from other samples, or says that it was made on
/// other kernels.
void require_made_from(const Values& profile, const Samples& samples);

/// The samples that the profile at `path` names. Throws as the two above.
Samples samples_of(const std::string& path);

/// The text of a profile against the table of its keys. Throws InputError.
Values profile_values(const std::string& text, const std::string& file);

/// Throws InputError where the text of a profile that was made from `samples` is none.
void require_readable(const std::string& text, const std::string& samples);

}  // namespace depthcost::profile
