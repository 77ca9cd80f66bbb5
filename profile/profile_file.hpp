// Reads the file of a profile and the samples that it names. Nothing is fitted here.
#pragma once

#include <stdexcept>
#include <string>

#include "profile/profile.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost::profile {

/// The backend whose samples a profile or a preset can be compared with.
Backend backend_of(const Values& device);

/// Whether the name ends with .yaml or .yml. Tables and samples have other names.
bool is_profile_path(const std::string& path);

/// The samples were measured on another machine.
class ForeignSamples : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws MeasurementInvalid for samples that have a problem, ForeignSamples for those that were
/// not measured on `machine`.
void require_good_and_own(const Samples& samples, const std::string& machine);

struct LoadedProfile {
  Values values;
  Profile profile;  // a file has neither the variants of ceilings nor the signs of the worst errors
  Samples samples;  // good, and of the same machine
};

/// The profile that a file holds. Throws InputError.
Profile profile_in(const Values& values);

/// Throws InputError where a file cannot be read or is no profile, and what require_good_and_own()
/// throws.
LoadedProfile load_profile(const std::string& path);

/// Throws InputError where the profile was made from other samples or on other kernels.
void require_made_from(const Values& profile, const Samples& samples);

/// The samples that the profile at `path` names. Throws what load_profile() and require_made_from()
/// throw.
Samples samples_of(const std::string& path);

/// Reads the text of a profile by the table of its keys. Throws InputError.
Values profile_values(const std::string& text, const std::string& file);

/// Throws InputError where no profile can be read from `text`, which was made from `samples`.
void require_readable(const std::string& text, const std::string& samples);

}  // namespace depthcost::profile
